package protect

import "fmt"

// Setting says which halves of the protection are in force. It belongs to the
// bricks, which announce it to the stubs. The zero setting is off.
type Setting struct {
	Window  bool // stubs keep a window for each brick
	Discard bool // bricks drop requests whose time-out has passed
}

// The four settings. WindowOnly and DiscardOnly are for ablation.
var (
	Off         = Setting{}
	On          = Setting{Window: true, Discard: true}
	WindowOnly  = Setting{Window: true}
	DiscardOnly = Setting{Discard: true}
)

// Settings lists the settings in the order in which help texts name them.
func Settings() []Setting { return []Setting{On, Off, WindowOnly, DiscardOnly} }

// String returns on, off, window or discard.
func (s Setting) String() string {
	switch s {
	case On:
		return "on"
	case WindowOnly:
		return "window"
	case DiscardOnly:
		return "discard"
	default:
		return "off"
	}
}

// ParseSetting is the inverse of String.
func ParseSetting(name string) (Setting, error) {
	for _, s := range Settings() {
		if s.String() == name {
			return s, nil
		}
	}
	return Off, fmt.Errorf("%q is not a protection setting: choose on, off, window or discard", name)
}
