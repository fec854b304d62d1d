package feed

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Hash is the SHA-256 of a text in lower-case hexadecimal, as vendors have requests hashed that are signed.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// MAC is the HMAC-SHA256 of a text.
func MAC(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // a hash never fails to take bytes
	return h.Sum(nil)
}
