package profile_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
)

func TestBuiltinsParse(t *testing.T) {
	for _, name := range profile.Names() {
		p, err := profile.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || p.Description == "" {
			t.Errorf("profile %s calls itself %q, description %q", name, p.Name, p.Description)
		}
	}
}

// The capacity of eight bricks must be the published peak: 1900 requests/s of
// two operations each.
func TestPublishedPeak(t *testing.T) {
	p, err := profile.ByName("nsdi04")
	if err != nil {
		t.Fatal(err)
	}
	mean := (p.Processor.Mean(false, 8192) + p.Processor.Mean(true, 8192)) / 2
	peak := 8 / (2 * mean.Seconds())
	if peak < 1895 || peak > 1905 {
		t.Errorf("8 bricks serve %.0f requests/s, want 1900", peak)
	}
}

func TestParseErrors(t *testing.T) {
	const ok = "name: x\nprocessor: {kind: emulated, put: 1ms, get: 1ms}\nusers: {expiry: 10s}\n"
	if _, err := profile.Parse([]byte(ok)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, src, want string }{
		{"unknown field", ok + "bogus: 1\n", "bogus"},
		{"no name", strings.Replace(ok, "name: x\n", "", 1), "name: missing"},
		{"kind", strings.Replace(ok, "emulated", "quantum", 1), `"quantum"`},
		{"native with costs", strings.Replace(ok, "emulated", "native", 1), "takes no costs"},
		{"no cost", strings.Replace(ok, "put: 1ms, ", "", 1), "above zero"},
		{"negative", strings.Replace(ok, "put: 1ms", "put: -1ms", 1), "processor.put"},
		{"share", strings.Replace(ok, "kind:", "jitter: 1.5, kind:", 1), "processor.jitter"},
		{"expiry", strings.Replace(ok, "10s", "1500ms", 1), "users.expiry"},
		{"not yaml", "{{", "profile:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := profile.Parse([]byte(tt.src))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var sum time.Duration
	const n = 10000
	for range n {
		d := profile.Spread(rng, 20*time.Millisecond, 0.5)
		if d < 10*time.Millisecond || d > 30*time.Millisecond {
			t.Fatalf("%v is outside 10ms..30ms", d)
		}
		sum += d
	}
	if mean := sum / n; mean < 19800*time.Microsecond || mean > 20200*time.Microsecond {
		t.Errorf("mean %v, want about 20ms", mean)
	}
	if d := profile.Spread(rng, time.Second, 0); d != time.Second {
		t.Errorf("no jitter: %v, want 1s", d)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range profile.Names() {
		src, err := profile.Source(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := profile.Parse(src)
		if err == nil && p.Validate() != nil {
			t.Errorf("Parse let an invalid profile pass: %v", p.Validate())
		}
	})
}
