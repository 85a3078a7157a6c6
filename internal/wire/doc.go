// Package wire is what goes over the connections between a stub or ssmctl itself
// and a brick: frames, their codec, and nothing of what they mean.
//
// It stands between the shells of stub and brick. It imports session and protect. It
// trusts no length that it reads: every one is bounded before memory is taken for it.
package wire
