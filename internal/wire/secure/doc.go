// Package secure is who may speak with whom: the authority of a cluster gives each
// member keys, and members speak with nobody else, over TLS 1.3.
//
// It stands below the shells that dial and listen, beside wire, whose frames it
// carries without reading them. It imports wire for the error of a stranger, and nothing else of ssmctl.
// A nil *Keys and a nil *tls.Config mean plaintext everywhere.
package secure
