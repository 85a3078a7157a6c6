// Package protect holds the overload policies: the rule by which a stub sizes its
// window for one brick, the rule by which a brick keeps its queue, and the setting that
// switches both.
//
// It is a leaf beside session. Policies are pure: they take now and return a
// decision; they never read a clock, never sleep and never start a goroutine.
package protect
