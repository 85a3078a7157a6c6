package chaos

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for spec, want := range map[string]Fault{
		"kill:brick-2@30s+10s":                   {Kind: Kill, Brick: 2, At: 30 * time.Second, For: 10 * time.Second},
		"slow:brick-1,by=1ms@1m0s":               {Kind: Slow, Brick: 1, By: time.Millisecond, At: time.Minute},
		"drop:brick-3,share=0.7@35s+10s":         {Kind: Drop, Brick: 3, Share: 0.7, At: 35 * time.Second, For: 10 * time.Second},
		"delay:brick-1,by=5ms,jitter=2ms@0s+20s": {Kind: Delay, Brick: 1, By: 5 * time.Millisecond, Jitter: 2 * time.Millisecond, For: 20 * time.Second},
		"flip:brick-3@30s":                       {Kind: Flip, Brick: 3, At: 30 * time.Second},
		"flip:brick-3,bits=100@30s":              {Kind: Flip, Brick: 3, Bits: 100, At: 30 * time.Second},
		"flip-crash:brick-3@14s+9s":              {Kind: FlipCrash, Brick: 3, At: 14 * time.Second, For: 9 * time.Second},
		"fill:brick-1,share=0.9@30s":             {Kind: Fill, Brick: 1, Share: 0.9, At: 30 * time.Second},
		"fill:brick-1,bytes=512MiB@30s+1s":       {Kind: Fill, Brick: 1, Bytes: 512 << 20, At: 30 * time.Second, For: time.Second},
		"fill:brick-1,bytes=1025B@30s":           {Kind: Fill, Brick: 1, Bytes: 1025, At: 30 * time.Second},
		"surge:load,machines=34@10s+10s":         {Kind: Surge, Machines: 34, At: 10 * time.Second, For: 10 * time.Second},
	} {
		got, err := Parse(spec)
		if err != nil || got != want {
			t.Errorf("%s: %+v, error %v", spec, got, err)
		}
		if got.String() != spec {
			t.Errorf("%s came back as %s", spec, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, spec := range []string{
		"", "kill", "kill:brick-2", "kill@3s", "burn:brick-2@3s", "kill:brick-0@3s", "kill:brick-02@3s", "kill:load@3s",
		"surge:brick-1,machines=3@1s", "surge:load@1s", "surge:load,machines=0@1s", "kill:brick-2,by=1ms@3s", "slow:brick-2@3s",
		"slow:brick-2,by=-1ms@3s", "slow:brick-2,by=1@3s", "slow:brick-2,by=1ms,by=2ms@3s", "drop:brick-2,share=NaN@3s", "drop:brick-2,share=1.1@3s",
		"drop:brick-2,share=0@3s", "kill:brick-2@-3s", "kill:brick-2@3s+0s", "kill:brick-2@3s+", "stall:brick-2@3s", "delay:brick-1,by=1ms,jitter=2ms@1s",
		"flip:brick-2@3s+1s", "flip:brick-2,bits=0@3s", "flip:brick-2,bits=1000001@3s", "flip:load@3s", "flip-crash:brick-2,bits=1@3s",
		"fill:brick-2@3s", "fill:brick-2,share=0.5,bytes=1MiB@3s", "fill:brick-2,bytes=0B@3s", "fill:brick-2,bytes=1.5MiB@3s", "fill:brick-2,bytes=-1@3s",
		"fill:brick-2,bytes=99999999GiB@3s", "fill:brick-2,share=2@3s",
		"kill:brick-70000@3s", "kill:brick-2@25h",
	} {
		if f, err := Parse(spec); err == nil || !strings.HasPrefix(err.Error(), `"`+spec+`": `) {
			t.Errorf("%q: %+v, error %v", spec, f, err)
		}
	}
}

// Every kind's own example is right, and every kind says what it does.
func TestKinds(t *testing.T) {
	for i := range kinds {
		if _, err := Parse(kinds[i].example()); err != nil {
			t.Error(err)
		}
		if k := kinds[i].kind; k.Summary() == "" {
			t.Errorf("%s says nothing of itself", k)
		}
	}
}

func FuzzParse(f *testing.F) {
	for i := range kinds {
		f.Add(kinds[i].example())
	}
	f.Fuzz(func(t *testing.T, spec string) {
		fault, err := Parse(spec)
		if err != nil {
			return
		}
		if again, err := Parse(fault.String()); err != nil || again != fault {
			t.Errorf("%q: %+v came back as %+v, error %v", spec, fault, again, err)
		}
	})
}
