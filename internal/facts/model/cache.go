package model

// cacheValues is how many numbers the layer keeps for one more token while its window is open.
func (a Attention) cacheValues() float64 {
	switch {
	case a.Kind == LinearAttention || a.Bidirectional:
		return 0
	case a.Kind == LatentAttention:
		return float64(a.Latent + a.Rope)
	}
	return float64(a.KVHeads) * float64(a.QKDim+a.VDim)
}

// bytes is what one such layer keeps for a sequence of so many tokens.
func (a Attention) bytes(tokens int, bits float64) float64 {
	if a.Kind == LinearAttention {
		return float64(a.StateBytes) // engines keep recurrent states at 16 bit or more whatever the cache's format
	}
	return a.cacheValues() * (a.visible(float64(max(0, tokens))) + float64(a.Cross)) * bits / 8
}

// KVBytesPerToken is what one more token adds at so many bits a value while every window is open: grouped (qk + v)
// kv-heads, latent + rope once for latent attention, nothing for linear and bidirectional layers. Past the windows a
// token adds less (KVBytes is exact at any length).
func (m *Model) KVBytesPerToken(bits float64) float64 {
	var sum float64
	for _, a := range m.Attention {
		sum += float64(a.Layers) * a.cacheValues() * bits / 8
	}
	return sum
}

// KVBytes is the cache of one sequence of so many tokens: windows hold at most their width, linear layers a
// constant state, cross-attention the encoder's tokens.
func (m *Model) KVBytes(tokens int, bits float64) float64 { return m.KVRankBytes(tokens, bits, 1) }

// KVRankBytes is the part of KVBytes that one of tp tensor-parallel ranks holds.
func (m *Model) KVRankBytes(tokens int, bits float64, tp int) float64 {
	var sum float64
	for _, a := range m.Attention {
		sum += float64(a.Layers) * a.bytes(tokens, bits) * a.shard(tp)
	}
	return sum
}

// shard is the share of one layer's cache that one of tp ranks holds.
func (a Attention) shard(tp int) float64 {
	if tp <= 1 || a.Kind == LatentAttention {
		return 1
	}
	if a.KVHeads == 0 { // a linear layer's state heads are many
		return 1 / float64(tp)
	}
	return float64((a.KVHeads+tp-1)/tp) / float64(a.KVHeads)
}
