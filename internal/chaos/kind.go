package chaos

import "slices"

// Kind names a fault.
type Kind string

// The faults. Everything but Surge strikes one brick.
const (
	Kill      Kind = "kill"       // the process is gone with all it held; back, empty, when the fault ends
	Stall     Kind = "stall"      // the whole brick stands still, as in a garbage collector's pause
	Slow      Kind = "slow"       // every message costs the brick more time
	Drop      Kind = "drop"       // a share of the brick's replies is never sent
	Partition Kind = "partition"  // no message between the brick and anyone passes
	Loss      Kind = "loss"       // a share of the messages to and from the brick vanishes
	Delay     Kind = "delay"      // messages to and from the brick take longer
	Flip      Kind = "flip"       // bits of what the brick holds are turned over, at one instant
	FlipCrash Kind = "flip-crash" // a bit that the process cannot live with: it dies, and is back, empty
	Fill      Kind = "fill"       // so much of the brick's memory is taken by something else
	Surge     Kind = "surge"      // so many load machines more
)

// kindInfo is what a kind's specification must and may say.
type kindInfo struct {
	kind    Kind
	needs   []string // arguments, all required
	either  []string // arguments of which one is required
	may     []string // arguments that may be left out
	endless bool     // it may be left without an end
	network bool     // it strikes the connection and not the process
	instant bool     // it is over at once and has no length
	summary string   // one line, for help texts
}

var kinds = []kindInfo{
	{kind: Kill, endless: true, summary: "the brick's process dies; it is back, empty, at the end"},
	{kind: Stall, summary: "the brick stands still"},
	{kind: Slow, needs: []string{"by"}, endless: true, summary: "every message costs the brick so much more (by=1ms)"},
	{kind: Drop, needs: []string{"share"}, endless: true, summary: "so many of the brick's replies are never sent (share=0.7)"},
	{kind: Partition, endless: true, network: true, summary: "no message to or from the brick passes"},
	{kind: Loss, needs: []string{"share"}, endless: true, network: true, summary: "so many of the messages to and from the brick vanish (share=0.1)"},
	{kind: Delay, needs: []string{"by"}, may: []string{"jitter"}, endless: true, network: true, summary: "messages to and from the brick take so much longer (by=5ms,jitter=2ms)"},
	{kind: Flip, may: []string{"bits"}, instant: true, summary: "a bit of a state that the brick holds turns over; bits=100 strikes so many states"},
	{kind: FlipCrash, endless: true, summary: "a bit turns over that the brick's process dies of; it is back, empty, at the end"},
	{kind: Fill, either: []string{"share", "bytes"}, endless: true, summary: "so much of the brick's memory is taken away (share=0.9 or bytes=512MiB)"},
	{kind: Surge, needs: []string{"machines"}, endless: true, summary: "so many load machines more (machines=34)"},
}

func infoOf(k Kind) (kindInfo, bool) {
	i := slices.IndexFunc(kinds, func(info kindInfo) bool { return info.kind == k })
	if i < 0 {
		return kindInfo{}, false
	}
	return kinds[i], true
}

// Kinds returns all faults, in the order in which help texts name them.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i := range kinds {
		all[i] = kinds[i].kind
	}
	return all
}

// OfNetwork reports whether a fault strikes the brick's connection, which no restart mends.
func (k Kind) OfNetwork() bool {
	info, _ := infoOf(k)
	return info.network
}

// Summary returns what a fault does, in one line; empty for a kind that does not exist.
func (k Kind) Summary() string {
	info, _ := infoOf(k)
	return info.summary
}
