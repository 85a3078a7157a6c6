package protect

import (
	"fmt"
	"strings"
)

// Setting says which halves of the protection are in force. It belongs to the
// bricks, which announce it to the stubs. The zero setting is off.
type Setting struct {
	Window bool // stubs keep a window for each brick
	Queue  Rule // of the bricks
}

// The settings. All but Off and On are for comparison.
var (
	Off         = Setting{}
	On          = Setting{Window: true, Queue: Discard} // SSM's
	WindowOnly  = Setting{Window: true}
	DiscardOnly = Setting{Queue: Discard}
	CoDelOnly   = Setting{Queue: CoDel}
	WindowCoDel = Setting{Window: true, Queue: CoDel}
)

// settings is the one list of what may be chosen; parsers, help texts and messages follow it.
var settings = []struct {
	Setting
	name, summary string
}{
	{On, "on", "both halves, as in SSM: window and discard"},
	{Off, "off", "neither"},
	{WindowOnly, "window", "stubs keep a window for each brick and refuse what does not fit"},
	{DiscardOnly, "discard", "bricks drop requests whose time-out has passed"},
	{CoDelOnly, "codel", "bricks under overload serve the newest first and refuse what has waited 10 ms"},
	{WindowCoDel, "window+codel", "the window, and codel in place of discard"},
}

// Settings lists the settings in the order in which help texts name them.
func Settings() []Setting {
	all := make([]Setting, len(settings))
	for i := range settings {
		all[i] = settings[i].Setting
	}
	return all
}

// SettingNames lists their names, in the same order.
func SettingNames() []string {
	names := make([]string, len(settings))
	for i := range settings {
		names[i] = settings[i].name
	}
	return names
}

// SettingChoice lists their names for a sentence: "on, off or window".
func SettingChoice() string {
	names := SettingNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// String returns the setting's name.
func (s Setting) String() string {
	for i := range settings {
		if settings[i].Setting == s {
			return settings[i].name
		}
	}
	return fmt.Sprintf("window %v, queue rule %d", s.Window, s.Queue)
}

// Summary is one line for help texts: the setting in words.
func (s Setting) Summary() string {
	for i := range settings {
		if settings[i].Setting == s {
			return settings[i].summary
		}
	}
	return ""
}

// ParseSetting is the inverse of String.
func ParseSetting(name string) (Setting, error) {
	for i := range settings {
		if settings[i].name == name {
			return settings[i].Setting, nil
		}
	}
	return Off, fmt.Errorf("%q is not a protection setting: choose %s", name, SettingChoice())
}

// Windowed reports whether the policy matters under a setting of this name. Under a name
// that is none, such as that of a level in which the setting changed, it may have.
func Windowed(name string) bool {
	s, err := ParseSetting(name)
	return err != nil || s.Window
}
