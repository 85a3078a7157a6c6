package inventory_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

const lab = `# two hosts
via: ssh -F 'my config' {host}
hosts:
  - name: b1
    bricks: 2
    address: 10.77.0.1
    listen: 0.0.0.0
    user: root
    port: 2222
    identity: ~/.ssh/lab
    binary: ./ssmctl-linux-arm64
    env: {GOMAXPROCS: 1, EMPTY: ""}
    cpus: 0-1,4
  - {name: l1, load: true, address: "fd77::1", identity: key, via: 'docker exec -i {name}'}
`

func TestParse(t *testing.T) {
	got, err := inventory.Parse("labs/lab.yaml", []byte(lab))
	if err != nil {
		t.Fatal(err)
	}
	want := []inventory.Host{
		{
			Name: "b1", Address: "10.77.0.1", Listen: "0.0.0.0", Via: "ssh -F 'my config' {host}", User: "root", Port: 2222,
			Identity: "~/.ssh/lab", Binary: "labs/ssmctl-linux-arm64",
			Env: map[string]string{"GOMAXPROCS": "1", "EMPTY": ""}, CPUs: "0-1,4", Bricks: 2, Line: 4,
		},
		{
			Name: "l1", Address: "fd77::1", Listen: "fd77::1", Via: "docker exec -i {name}", Identity: "labs/key", Load: true, Line: 14,
		},
	}
	if diff := cmp.Diff(want, got.Hosts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:1], got.BrickHosts()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:], got.LoadHosts()); diff != "" {
		t.Error(diff)
	}
}

func TestDefaults(t *testing.T) {
	got, err := inventory.Parse("lab.yaml", []byte("hosts: [{name: h, load: true}]"))
	if err != nil {
		t.Fatal(err)
	}
	want := []inventory.Host{{Name: "h", Address: "h", Listen: "h", Via: "ssh {host}", Load: true, Line: 1}}
	if diff := cmp.Diff(want, got.Hosts); diff != "" {
		t.Error(diff)
	}
}

// Each inventory is followed by all that is wrong with it.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":  {"", "f:1: no hosts: list them under hosts:"},
		"comment":  {"# only\n", "f:1: no hosts: list them under hosts:"},
		"empty":    {"hosts: []", "f:1: no hosts: list them under hosts:"},
		"no hosts": {"via: ssh {host}", "f:1: no hosts: list them under hosts:"},
		"a list":   {"- name: b1", "f:1: inventory: write key: value, one per line"},
		"no list":  {"via: x\nhosts: {name: b1}", "f:2: hosts: a list is wanted: - name: NAME begins each host"},
		"two":      {"hosts: [{name: a, load: true}]\n---\nhosts: []", "f:2: a second document: put all hosts into one"},
		"many": {
			`hosts:
  - name: b1
    bricks: x
    prot: 3
  - load: true
    user: -oProxyCommand=x
  - name: b1
    via: "ssh '{host}"
    bricks: 1
    env: [1]
  - name: b4
    load: maybe
    port: 99999
    address: root@x
    address: y
  - name: b5
    via: ssh {user}@{host}
    load: true
  - b6
  - name: b7
    identity:
    listen: [a]
    cpus: all
    env: {A B: 1}
`,
			`f:3: bricks: "x": a whole number from 0 to 1000 is wanted
f:4: host: no field "prot": choose name, bricks, load, address, listen, user, port, identity, via, binary, env, cpus
f:5: a host without a name: give it name: NAME
f:6: user: "-oProxyCommand=x": the name of a user
f:7: name: b1 is in line 2 already: give each host a name of its own
f:8: via: Unterminated single-quoted string: close the quotes
f:10: env: write key: value, one per line
f:12: load: "maybe": choose true or false
f:13: port: "99999": a whole number from 1 to 65535 is wanted
f:14: address: "root@x": a name or an address, without user, port and brackets
f:15: host: address stands here a second time: remove one
f:17: via: b5: {user}: the host has no user: give it one
f:19: host: write key: value, one per line
f:20: b7 is for nothing: give it bricks: N, load: true, or both
f:21: identity: empty: give a value, or remove the line
f:22: listen: one value is wanted here
f:23: cpus: "all": a list such as 0-3,8
f:24: env: "A B": the name of a variable: letters, digits and underscores`,
		},
		"one way for all": {
			"via: ssh {hots}\nhosts:\n  - {name: a, load: true}\n  - {name: b, load: true}\n",
			"f:1: via: no {hots}: a command may name {host}, {name}, {user}, {port} and {identity}",
		},
		"one place for all": {
			"via: x\nhosts:\n  - {name: a, load: true}\n  - {name: b, load: true}\n",
			"f:1: via: " + inventory.OneForAll,
		},
		"cpus":    {"hosts:\n  - {name: a, load: true, cpus: '0-3,5-2'}", `f:2: cpus: "0-3,5-2": 5-2 ends before it begins`},
		"anchors": {"hosts:\n  - {name: &a b1, load: true}\n", "f:2: name: anchors, aliases and tags are not understood here: write the value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := inventory.Parse("f", []byte(c.text))
			var wrong *inventory.Error
			if !errors.As(err, &wrong) {
				t.Fatalf("no *inventory.Error: %v", err)
			}
			if diff := cmp.Diff(c.want, wrong.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Files are looked at where they are named, seen from the inventory.
func TestParseFiles(t *testing.T) {
	text := "hosts:\n  - name: a\n    load: true\n    identity: k\n    binary: ~/b\n"
	_, err := inventory.ParseFiles("d/f", []byte(text), func(path string) error { return errors.New("no " + path) })
	if want := "d/f:4: identity: no d/k\nd/f:5: binary: no ~/b"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestNoYAML(t *testing.T) {
	_, err := inventory.Parse("f", []byte("hosts:\n  - name: 'b1\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "f:2: no YAML: ") {
		t.Errorf("got %v", err)
	}
}

func TestCommand(t *testing.T) {
	h := inventory.Host{Name: "b1", Address: "10.0.0.1", User: "joe", Port: 22, Identity: "/a b"}
	for via, want := range map[string][]string{
		"ssh {host}":                       {"ssh", "10.0.0.1"},
		"srun --nodelist={name} -n1":       {"srun", "--nodelist=b1", "-n1"},
		"x {user}@{host}:{port}":           {"x", "joe@10.0.0.1:22"},
		"x {identity} '{{.Name}}' \"a b\"": {"x", "/a b", "{{.Name}}", "a b"},
	} {
		h.Via = via
		got, target, err := h.Command()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", via, diff)
		}
		if named := target >= 0; named != (via[0] != 'x' || strings.Contains(via, "{host}")) {
			t.Errorf("%s: target %d", via, target)
		}
	}
}

// FuzzParse: any text is an inventory whose hosts can be reached, or has mistakes with lines.
func FuzzParse(f *testing.F) {
	f.Add([]byte(lab))
	f.Add([]byte("hosts: [{name: h, load: true}]"))
	f.Add([]byte("hosts:\n  - name: &a b1\n    via: *a\n? x\n: y"))
	f.Fuzz(func(t *testing.T, text []byte) {
		inv, err := inventory.Parse("f", text)
		if err != nil {
			checkMistakes(t, err, strings.Count(string(text), "\n")+strings.Count(string(text), "\r")+1)
			return
		}
		names := make(map[string]bool)
		for _, h := range inv.Hosts {
			if h.Name == "" || names[h.Name] || h.Address == "" || h.Listen == "" {
				t.Errorf("a host that cannot be: %+v", h)
			}
			names[h.Name] = true
			words, _, err := h.Command()
			if err != nil || len(words) == 0 {
				t.Errorf("no way to %+v: %v", h, err)
			}
			for _, word := range []string{h.Address, h.Name, h.User, h.Listen} {
				if strings.HasPrefix(word, "-") || strings.ContainsAny(word, " '\"$`\n\x00") {
					t.Errorf("%q would not be one plain word", word)
				}
			}
		}
	})
}

func checkMistakes(t *testing.T, err error, lines int) {
	t.Helper()
	var wrong *inventory.Error
	if !errors.As(err, &wrong) || len(wrong.Mistakes) == 0 {
		t.Fatalf("no mistakes: %v", err)
	}
	for _, m := range wrong.Mistakes {
		if m.Line < 1 || m.Line > lines+1 || m.Text == "" || strings.Contains(m.Text, "\n") {
			t.Errorf("of %d lines: %+v", lines, m)
		}
	}
}
