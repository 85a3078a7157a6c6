package watch

import "time"

// The constants of detection. The published detector takes a sample a second, compares
// activities by their median absolute deviation and restarts a brick after a threshold number of
// anomalies (SSM, NSDI 2004); its numbers were not published. These are chosen, by simulation of
// clean load and of the published fault.
const (
	// anomalous is so many spreads from the median. 3.5 is usual for a single test (Iglewicz and
	// Hoaglin, 1993); here every brick is tested every second.
	anomalous = 4.0
	// window is so many looks that are taken together: a second of light load is mostly chance.
	window = 5
	// severalFor is so many looks in a row in which several statistics deviate.
	severalFor = 3
	// aloneFor is so many looks in a row in which one activity does. Under the published fault, at a
	// load that the other bricks can bear, the reads are all that shows.
	aloneFor = 5
	// silentFor is so many looks in a row without an answer. A look is a second, and after three
	// stubs too let go of a brick.
	silentFor = 3
	// goneFor is so many looks in a row without a process: one may fall into a restart.
	goneFor = 2
	// fewest is how many bricks can be compared. Of two, neither is the odd one.
	fewest = 3
)

// The constants of repair, chosen.
const (
	// apart is how long a brick that answers, but deviates, must live on after another's death or
	// restart, so that a state is not lost whose other copy has just gone. It is the life of the states that nsdi04 writes.
	apart = 10 * time.Second
	// relapse is the time from a repair in which the next means that the first was of no use. The
	// published experiment brings its fault back every minute, and has it repaired each time.
	relapse = 30 * time.Second
	// mostRepairs is so many in a row, after which a restart is no remedy.
	mostRepairs = 3
	// rest is how long a brick must be well before it is restarted again after that.
	rest = 5 * time.Minute
)
