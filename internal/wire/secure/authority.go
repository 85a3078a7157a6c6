package secure

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// Certificates are good for a cluster's life, and on hosts whose clocks are wrong by less than
// the first of these. Their end is no protection: a cluster's keys end with its bricks.
const (
	validBefore = 30 * 24 * time.Hour
	validFor    = 5 * 365 * 24 * time.Hour
)

const (
	certBlock = "CERTIFICATE"
	keyBlock  = "PRIVATE KEY"
)

// Authority makes the members of one cluster. Without it nobody can be added.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes the authority of a new cluster.
func NewAuthority() (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := validFrom(time.Now(), "authority")
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign
	cert, err := sign(template, template, key, key)
	if err != nil {
		return nil, err
	}
	return &Authority{cert: cert, key: key}, nil
}

// Issue makes a member; the name is for people who look at its certificate. A member may
// both listen and dial.
func (a *Authority) Issue(name string) (Keys, error) { return a.issue(validFrom(time.Now(), name)) }

func (a *Authority) issue(template *x509.Certificate) (Keys, error) {
	key, err := newKey()
	if err != nil {
		return Keys{}, err
	}
	template.DNSNames = []string{memberName}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	cert, err := sign(template, a.cert, key, a.key)
	if err != nil {
		return Keys{}, err
	}
	keyPEM, err := encodeKey(key)
	return Keys{CA: encodeCert(a.cert), Cert: encodeCert(cert), Key: keyPEM}, err
}

// Keep writes the authority, its private key included, into a file of the user alone. The
// directory is made, for the user alone, if there is none.
func (a *Authority) Keep(path string) error {
	key, err := encodeKey(a.key)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep keys: %w", err)
	}
	if err := renameio.WriteFile(path, append(encodeCert(a.cert), key...), 0o600, renameio.WithTempDir(dir)); err != nil {
		return fmt.Errorf("keep keys: %w", err)
	}
	return nil
}

// Kept reads what Keep has written. A file that others may read is refused; the error of
// one that is not there is fs.ErrNotExist.
func Kept(path string) (*Authority, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("keys of a cluster: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("keys of a cluster: %s: %w: others may read it: remove it and make the cluster anew", path, fs.ErrPermission)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("keys of a cluster: %w", err)
	}
	a, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("keys of a cluster: %s: %w", path, err)
	}
	return a, nil
}

func parse(text []byte) (*Authority, error) {
	certPEM, rest := pem.Decode(text)
	keyPEM, _ := pem.Decode(rest)
	if certPEM == nil || keyPEM == nil {
		return nil, errors.New("not a certificate and a key")
	}
	cert, err := x509.ParseCertificate(certPEM.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(keyPEM.Bytes)
	if err != nil {
		return nil, err
	}
	own, ok := key.(*ecdsa.PrivateKey)
	if !ok || !own.PublicKey.Equal(cert.PublicKey) {
		return nil, errors.New("the key is not that of the certificate")
	}
	return &Authority{cert: cert, key: own}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

func validFrom(now time.Time, name string) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{Organization: []string{"ssmctl"}, CommonName: name},
		NotBefore: now.Add(-validBefore), NotAfter: now.Add(validFor),
	}
}

func sign(template, parent *x509.Certificate, subject, issuer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &subject.PublicKey, issuer)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

func encodeCert(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: c.Raw})
}

func encodeKey(k *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}), nil
}
