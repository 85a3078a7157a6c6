package protect

import "time"

// Dead is the brick's half of the protection: it reports whether a request that has
// waited so long, and whose stub gives up after timeout, is to be dropped unserved when it
// reaches the head of the inbox. Both count from the arrival at the brick, so no clock is compared.
func (s Setting) Dead(waited, timeout time.Duration) bool {
	return s.Discard && waited > timeout
}
