// Package watch is the core of detection and repair: it compares the statistics that
// bricks give of themselves and says which brick is at fault, and when to restart it.
//
// It is a leaf beside chaos and imports session alone. Whoever looks at the bricks, in real
// or in virtual time, calls Look with what it has seen and carries out what Look asks for.
package watch
