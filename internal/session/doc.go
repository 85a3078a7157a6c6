// Package session is the vocabulary that every other package speaks: keys,
// versions, expiries, checksums, cookies, quorums, the operations a stub sends
// to a brick, and the outcomes an attempt can end in.
//
// It is a leaf: it imports nothing of this module, and it knows no clock, no
// socket and no source of randomness. Instants are passed in by callers as a
// time.Duration since an epoch of the caller's choosing.
package session
