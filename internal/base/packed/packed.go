// Package packed undoes gzip of data that a user may have packed or not. Pure: bytes in, bytes out. Imported by whatever reads
// large tables; it imports nothing of ours.
package packed

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// most bounds data once it is unpacked.
const most = 256 << 20

var errSize = errors.New("more than 256 MiB unpacked")

// Plain is data as it is, or unpacked where it is gzip, which is known by its first two bytes.
func Plain(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, most+1))
	if err == nil && len(plain) > most {
		err = errSize
	}
	return plain, err
}
