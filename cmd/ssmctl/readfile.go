package main

import (
	"fmt"
	"io"
	"os"
)

// maxFile bounds what is read of a file that the user names, in bytes: far more than any
// profile or case has, and no more than a slip such as /dev/zero may cost.
const maxFile = 1 << 20

// readFile reads a file that the user names.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(src) > maxFile {
		err = fmt.Errorf("%s: more than %d bytes", path, maxFile)
	}
	return src, err
}
