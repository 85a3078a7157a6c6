package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The events of a simulated level come with it and are read back; a live level's must have been
// added when they happened.
func TestLevelEvents(t *testing.T) {
	events := []Event{
		{Second: 3, Kind: "fault", Who: "brick-2", What: "kill:brick-2@3s+1s"},
		{Second: 4, Kind: "fault-over", Who: "brick-2", What: "kill:brick-2@3s+1s"},
	}
	for _, mode := range []string{Sim, Live} {
		d, err := Create(t.TempDir(), Manifest{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.AppendLevel(Level{Events: events}); (err == nil) != (mode == Sim) {
			t.Errorf("%s: error %v", mode, err)
		}
		second := []Event{events[0]}
		second[0].Level = 1
		if mode == Live {
			second = nil
		}
		if err := d.AppendLevel(Level{Events: second}); err != nil {
			t.Errorf("%s: error %v", mode, err)
		}
		if err := d.Finish(Complete, ""); err != nil {
			t.Fatal(err)
		}
		run, err := Open(d.Path())
		if err != nil {
			t.Fatal(err)
		}
		var want []Event
		if mode == Sim {
			want = append(append(want, events...), second...)
		}
		if diff := cmp.Diff(want, run.Events); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", mode, diff)
		}
	}
}
