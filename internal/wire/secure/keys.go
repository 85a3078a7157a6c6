package secure

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
)

// memberName is in every member's certificate and is what the dialling side asks for. It
// says nothing about hosts: addresses change, and the authority's signature alone decides.
const memberName = "member.ssmctl"

// Keys are what one member of a cluster holds, in PEM. Whoever has them can do all that
// a member can: read, write and give orders. They are shown to nobody: formatting hides them.
type Keys struct {
	CA   []byte `json:"ca"`   // certificate of the authority
	Cert []byte `json:"cert"` // of the member, signed by the authority
	Key  []byte `json:"key"`  // the member's private key
}

// String hides the keys.
func (k Keys) String() string { return "(keys)" }

// GoString hides the keys.
func (k Keys) GoString() string { return k.String() }

// LogValue hides the keys.
func (k Keys) LogValue() slog.Value { return slog.StringValue(k.String()) }

// Same reports whether both are of members of one cluster; plaintext is a cluster of its own.
func (k *Keys) Same(o *Keys) bool {
	if k == nil || o == nil {
		return k == o
	}
	return string(k.CA) == string(o.CA)
}

// Server returns how a member listens; nil for nil keys.
func (k *Keys) Server() (*tls.Config, error) {
	cfg, ca, err := k.config()
	if cfg != nil {
		cfg.ClientAuth, cfg.ClientCAs = tls.RequireAndVerifyClientCert, ca
		// Connections last as long as a load: a ticket would save little, and would let
		// a member in without another look at its certificate.
		cfg.SessionTicketsDisabled = true
	}
	return cfg, err
}

// Client returns how a member dials; nil for nil keys.
func (k *Keys) Client() (*tls.Config, error) {
	cfg, ca, err := k.config()
	if cfg != nil {
		cfg.ServerName, cfg.RootCAs = memberName, ca
	}
	return cfg, err
}

// config is what both sides have in common.
func (k *Keys) config() (*tls.Config, *x509.CertPool, error) {
	if k == nil {
		return nil, nil, nil
	}
	own, err := tls.X509KeyPair(k.Cert, k.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("keys of a cluster: %w", err)
	}
	ca := x509.NewCertPool()
	if !ca.AppendCertsFromPEM(k.CA) {
		return nil, nil, errors.New("keys of a cluster: no certificate of its authority")
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{own},
		// Batches are large from the first one on: small records at the beginning of a
		// connection are for browsers.
		DynamicRecordSizingDisabled: true,
	}, ca, nil
}
