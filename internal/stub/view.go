package stub

import (
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// View is what a stub knows of a brick. The zero view is of one that it has never met.
type View struct {
	Up       bool
	Setting  protect.Setting
	Window   float64 // its size, in operations, whether or not it is in force
	InFlight int
}

// View returns what the stub knows of a brick now.
func (c *Core) View(id session.BrickID) View {
	i, known := c.find(id)
	if !known || c.bricks[i].window == nil {
		return View{}
	}
	b := &c.bricks[i]
	return View{Up: b.up, Setting: b.setting, Window: b.window.Size(), InFlight: b.inFlight}
}
