package secure

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/wire"
)

// stranger is one who should be let in by nobody: how it dials and how it listens.
type stranger struct {
	client, server func(net.Conn) net.Conn
}

func with(cfg *tls.Config) stranger {
	return stranger{
		client: func(c net.Conn) net.Conn { return tls.Client(c, cfg) },
		server: func(c net.Conn) net.Conn { return tls.Server(c, cfg) },
	}
}

// careless takes whoever is there, so that it is the other side that refuses.
func careless(certs ...tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: certs, InsecureSkipVerify: true, ClientAuth: tls.RequestClientCert}
}

func certificate(t *testing.T, k Keys, err error) tls.Certificate {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	c, err := tls.X509KeyPair(k.Cert, k.Key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// during is a certificate of the cluster that is good only then.
func during(t *testing.T, a *Authority, from, till time.Duration) tls.Certificate {
	t.Helper()
	template := validFrom(time.Now(), "test")
	template.NotBefore, template.NotAfter = time.Now().Add(from), time.Now().Add(till)
	k, err := a.issue(template)
	return certificate(t, k, err)
}

func strangers(t *testing.T, a *Authority) map[string]stranger {
	t.Helper()
	own, err := a.Issue("test")
	old := careless(certificate(t, own, err))
	old.MaxVersion = tls.VersionTLS12
	theirs, err := newAuthority(t).Issue("test")
	plain := func(c net.Conn) net.Conn { return c }
	return map[string]stranger{
		"plaintext":         {client: plain, server: plain},
		"another cluster's": with(careless(certificate(t, theirs, err))),
		"expired":           with(careless(during(t, a, -2*time.Hour, -time.Hour))),
		"not yet valid":     with(careless(during(t, a, time.Hour, 2*time.Hour))),
		"of an older TLS":   with(old),
	}
}

// Strangers who dial are told nothing, and the server knows them for what they are.
func TestStrangersDial(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	cfg, err := issue(t, a).Server()
	if err != nil {
		t.Fatal(err)
	}
	all := strangers(t, a)
	all["without a certificate"] = with(careless())
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, client := dialled(t, cfg)
			heard, serverErr, clientErr := converse(t, server, s.client(client))
			if !errors.Is(serverErr, wire.ErrProtocol) || len(heard) > 0 {
				t.Errorf("it heard %q (%v), and the server says %v", heard, clientErr, serverErr)
			}
		})
	}
}

// Strangers who listen are told nothing either.
func TestStrangersListen(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	cfg, err := issue(t, a).Client()
	if err != nil {
		t.Fatal(err)
	}
	all := strangers(t, a)
	impostor := careless(certificate(t, *issue(t, a), nil))
	impostor.Certificates[0].PrivateKey = certificate(t, *issue(t, a), nil).PrivateKey
	all["without the key"] = with(impostor)
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, raw := dialled(t, nil)
			told := make(chan error, 1)
			go func() {
				defer server.Close()
				c := s.server(server)
				_, err := c.Write([]byte(secret)) // a brick that would not wait for the hello
				if name == "plaintext" {
					told <- err
					return
				}
				_, err = io.ReadFull(c, make([]byte, 1))
				told <- err
			}()
			client := Client(raw, cfg)
			_, err := client.Write([]byte(ping))
			client.Close()
			if !errors.Is(err, wire.ErrProtocol) {
				t.Errorf("the client says %v", err)
			}
			if err := <-told; err == nil && name != "plaintext" {
				t.Error("it was told something")
			}
		})
	}
}

// Members whose clocks are wrong by weeks, or that are years old, are let in; wrong by
// more, they are not.
func TestClocks(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	for wrong, good := range map[time.Duration]bool{
		-validBefore - time.Hour: false, -validBefore + time.Hour: true, validFor - time.Hour: true, validFor + time.Hour: false,
	} {
		server, err := issue(t, a).Server()
		if err != nil {
			t.Fatal(err)
		}
		client, err := issue(t, a).Client()
		if err != nil {
			t.Fatal(err)
		}
		server.Time = func() time.Time { return time.Now().Add(wrong) }
		s, c := dialled(t, server)
		heard, serverErr, clientErr := converse(t, s, Client(c, client))
		if good != (string(heard) == secret) {
			t.Errorf("a clock wrong by %v: %v, %v, heard %q", wrong, serverErr, clientErr, heard)
		}
	}
}
