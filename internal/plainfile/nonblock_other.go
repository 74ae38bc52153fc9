//go:build !unix

package plainfile

// nonblock is nothing where files cannot be FIFOs.
const nonblock = 0
