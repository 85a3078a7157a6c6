package reach_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

type labels map[string]string

type metadata struct {
	Name   string
	Labels labels
}

type matching struct {
	MatchLabels labels `yaml:"matchLabels"`
}

// service and statefulSet are what the API knows, as far as the example uses it: a field
// that is not among it is a slip.
type service struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   metadata
	Spec       struct {
		ClusterIP string `yaml:"clusterIP"`
		Selector  labels
		Ports     []struct {
			Name string
			Port int
		}
	}
}

type statefulSet struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   metadata
	Spec       struct {
		Replicas            int
		ServiceName         string `yaml:"serviceName"`
		PodManagementPolicy string `yaml:"podManagementPolicy"`
		Selector            matching
		Template            struct {
			Metadata metadata
			Spec     podSpec
		}
	}
}

type podSpec struct {
	AutomountServiceAccountToken  bool `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int  `yaml:"terminationGracePeriodSeconds"`
	ShareProcessNamespace         bool `yaml:"shareProcessNamespace"`
	SecurityContext               struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		RunAsUser      int                   `yaml:"runAsUser"`
		RunAsGroup     int                   `yaml:"runAsGroup"`
		FSGroup        int                   `yaml:"fsGroup"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	TopologySpreadConstraints []struct {
		MaxSkew           int      `yaml:"maxSkew"`
		TopologyKey       string   `yaml:"topologyKey"`
		WhenUnsatisfiable string   `yaml:"whenUnsatisfiable"`
		LabelSelector     matching `yaml:"labelSelector"`
	} `yaml:"topologySpreadConstraints"`
	Containers []container
	Volumes    []volume
}

type volume struct {
	Name     string
	EmptyDir *struct{} `yaml:"emptyDir"`
}

type variable struct{ Name, Value string }

type container struct {
	Name, Image     string
	Command         []string
	Env             []variable
	Resources       struct{ Requests, Limits struct{ CPU, Memory string } }
	SecurityContext struct {
		AllowPrivilegeEscalation bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

func readManifest(t *testing.T) (text string, svc service, set statefulSet) {
	t.Helper()
	all, err := os.ReadFile("../../../examples/k8s/statefulset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(all), "\n---\n")
	if len(documents) != 2 {
		t.Fatalf("%d documents", len(documents))
	}
	for i, into := range []any{&svc, &set} {
		if err := yaml.UnmarshalWithOptions([]byte(documents[i]), into, yaml.Strict()); err != nil {
			t.Fatal(err)
		}
	}
	return string(all), svc, set
}

// TestManifest: the parts of the example belong together, and its pods are found by what
// its head says.
func TestManifest(t *testing.T) {
	text, svc, set := readManifest(t)
	pods := &set.Spec.Template
	for what, good := range map[string]bool{
		"kinds":                       svc.APIVersion+" "+svc.Kind+", "+set.APIVersion+" "+set.Kind == "v1 Service, apps/v1 StatefulSet",
		"a headless service":          svc.Spec.ClusterIP == "None" && len(svc.Spec.Ports) > 0,
		"the set's own service":       set.Spec.ServiceName == svc.Metadata.Name && svc.Metadata.Name != "",
		"the service finds the pods":  maps.Equal(svc.Spec.Selector, pods.Metadata.Labels) && len(pods.Metadata.Labels) > 0,
		"the set finds the pods":      maps.Equal(set.Spec.Selector.MatchLabels, pods.Metadata.Labels),
		"some replicas":               set.Spec.Replicas > 1,
		"dead bricks are buried":      pods.Spec.ShareProcessNamespace,
		"one container":               len(pods.Spec.Containers) == 1,
		"the head's command is right": strings.Contains(text, "--hosts k8s:app="+pods.Metadata.Labels["app"]+"\n"),
	} {
		if !good {
			t.Error(what)
		}
	}
	if len(pods.Spec.Containers) == 1 {
		checkContainer(t, &pods.Spec.Containers[0], pods.Spec.Volumes)
	}
	for _, source := range []string{"k8s:app=ssmctl", "k8s:app=ssmctl:bricks=8"} {
		if _, err := reach.Source(source); err != nil || !strings.Contains(text, source) {
			t.Errorf("the head of the manifest has %s: %v", source, err)
		}
	}
}

// checkContainer wants a container that ssmctl can be put into, with what it asks for.
func checkContainer(t *testing.T, c *container, volumes []volume) {
	t.Helper()
	writable := make(map[string]bool)
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(volumes, func(v volume) bool { return v.Name == m.Name && v.EmptyDir != nil }) {
			t.Errorf("no volume %s", m.Name)
		}
		writable[m.MountPath] = true
	}
	home := slices.IndexFunc(c.Env, func(e variable) bool { return e.Name == "HOME" })
	if home < 0 || !writable[c.Env[home].Value] || !writable["/tmp"] {
		t.Errorf("no home or /tmp to write to: %v of %v", c.Env, writable)
	}
	if c.Image == "" || len(c.Command) == 0 || c.Resources.Requests != c.Resources.Limits || c.Resources.Limits.CPU == "" {
		t.Errorf("the container: %+v", c)
	}
}
