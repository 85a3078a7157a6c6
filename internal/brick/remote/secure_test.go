package remote

import (
	"errors"
	"testing"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// newKeys returns the keys of a member of a new cluster.
func newKeys(t *testing.T) *secure.Keys {
	t.Helper()
	authority, err := secure.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := authority.Issue("test")
	if err != nil {
		t.Fatal(err)
	}
	return &keys
}

func clientOf(t *testing.T, keys *secure.Keys) Client {
	t.Helper()
	c, err := NewClient(keys)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A brick obeys a member of its cluster and nobody else; a client gives no order to a brick
// that is none of its cluster.
func TestKeys(t *testing.T) {
	t.Parallel()
	mine, theirs := newKeys(t), newKeys(t)
	guarded, open := startSecure(t, 1, mine), start(t, 2)
	if h, err := clientOf(t, mine).Protect(t.Context(), guarded, protect.WindowOnly); err != nil || h.Setting != protect.WindowOnly {
		t.Errorf("a member's order: %s, error %v", h.Setting, err)
	}
	for name, test := range map[string]struct {
		client Client
		brick  Brick
	}{
		"another cluster's keys": {clientOf(t, theirs), guarded},
		"no keys":                {plain, guarded},
		"a brick without keys":   {clientOf(t, mine), open},
	} {
		var failed *Error
		if _, err := test.client.Protect(t.Context(), test.brick, protect.DiscardOnly); !errors.As(err, &failed) || failed.Brick != test.brick {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if h, err := clientOf(t, mine).Status(t.Context(), guarded); err != nil || h.Setting != protect.WindowOnly || h.Stats.Garbage != 2 {
		t.Errorf("afterwards: %s, %d strangers, error %v", h.Setting, h.Stats.Garbage, err)
	}
	if h, err := plain.Status(t.Context(), open); err != nil || h.Setting != protect.Off {
		t.Errorf("without keys: %s, error %v", h.Setting, err)
	}
	if _, err := NewClient(&secure.Keys{}); err == nil {
		t.Error("empty keys are keys")
	}
}
