//go:build !linux

package result

func swap(a, b string) error { return swapInSteps(a, b) }
