package reach

// Sockets is the directory of the control sockets.
func (w *Way) Sockets() string { return w.sockets.path }
