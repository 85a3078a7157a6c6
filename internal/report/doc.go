// Package report renders runs for people and programs: tables, a sentence, CSV,
// JSON, plots, a page, the comparison of two runs and that with the published figures.
//
// It stands last in the flow, behind result. It measures nothing and keeps no state:
// runs go in, text or a picture goes out. It imports result, profile, protect and session at most.
package report
