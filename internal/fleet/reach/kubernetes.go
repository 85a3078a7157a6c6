package reach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// kubernetes is the pods that a label selector finds.
type kubernetes struct {
	selector             string
	given                string // the options, as they were written
	namespace, container string // empty: those of kubectl's configuration, and the pod's first
	spread               roles
}

// nameOfPart is what a namespace or a container may be called.
var nameOfPart = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// newKubernetes reads SELECTOR, which has no colon, and options behind one.
func newKubernetes(text string) (engine, error) {
	k := &kubernetes{}
	k.selector, k.given, _ = strings.Cut(text, ":")
	own := map[string]*string{"namespace": &k.namespace, "container": &k.container}
	if err := k.spread.options(k.given, own); err != nil {
		return nil, err
	}
	if k.selector == "" || strings.HasPrefix(k.selector, "-") {
		return nil, errors.New("which pods? Give the labels that they have, such as k8s:app=ssmctl")
	}
	for _, key := range []string{"namespace", "container"} {
		if name := *own[key]; name != "" && !nameOfPart.MatchString(name) {
			return nil, fmt.Errorf("%s=%s: small letters, digits and dashes", key, name)
		}
	}
	return k, nil
}

func (k *kubernetes) canonical() string {
	if k.given == "" {
		return "k8s:" + k.selector
	}
	return "k8s:" + k.selector + ":" + k.given
}

func (k *kubernetes) roles() roles { return k.spread }

func (k *kubernetes) via() string {
	text := "kubectl exec -i {name}"
	if k.namespace != "" {
		text += " --namespace=" + k.namespace
	}
	if k.container != "" {
		text += " --container=" + k.container
	}
	return text + " --"
}

func (k *kubernetes) hosts(ctx context.Context) (via string, hosts []member, err error) {
	argv := []string{"kubectl", "get", "pods", "-l", k.selector, "-o", "json"}
	if k.namespace != "" {
		argv = append(argv, "--namespace="+k.namespace)
	}
	out, err := query(ctx, k.canonical(), argv...)
	if err != nil {
		return "", nil, err
	}
	hosts, err = pods(out)
	if err != nil {
		return "", nil, &SourceError{Source: k.canonical(), Err: err}
	}
	return k.via(), hosts, nil
}

// pod is what matters here of what the API has about one.
type pod struct {
	Metadata struct {
		Name     string `json:"name"`
		Deletion string `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		Phase      string `json:"phase"`
		IP         string `json:"podIP"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// pods reads a list of them. One that is not ready is an error: it is about to be, and a
// measurement without it would be another one. Those that have ended are left out.
func pods(text []byte) (hosts []member, err error) {
	var list struct {
		Items []pod `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("the answer of kubectl: %w", err)
	}
	var not []string
	for i := range list.Items {
		p := &list.Items[i]
		switch state := p.state(); state {
		case "":
			hosts = append(hosts, member{name: p.Metadata.Name, address: p.Status.IP})
		case "Succeeded", "Failed":
		default:
			not = append(not, p.Metadata.Name+" is "+state)
		}
	}
	if len(not) > 0 {
		return nil, fmt.Errorf("not all pods are ready: %s: wait for them with kubectl wait --for=condition=Ready pod -l", strings.Join(not, ", "))
	}
	if len(hosts) == 0 {
		return nil, errors.New("no pods have these labels: see kubectl get pods --show-labels")
	}
	inOrder(hosts)
	return hosts, nil
}

// state is why a pod cannot be used; "" if it can.
func (p *pod) state() string {
	switch {
	case p.Status.Phase != "Running":
		return p.Status.Phase
	case p.Metadata.Deletion != "":
		return "being deleted"
	case p.Status.IP == "":
		return "without an address"
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" {
			return ""
		}
	}
	return "not ready"
}
