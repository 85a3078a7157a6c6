// Package result is what a run leaves behind: the manifest, a row per level, a
// series per second, histograms, events, and the verdicts and marks computed from them.
//
// It stands behind loadgen and sim, which fill it, and before report, which renders
// it. Its statistics are pure functions; only the run directory does I/O. It imports
// session, protect and profile at most.
package result
