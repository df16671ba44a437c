package gateway

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// grant is what a sealed token gives to its agent.
type grant struct {
	Lease   string `json:"-"`                // in the clear, and authenticated
	Token   []byte `json:"token"`            // Temporal's task token
	Project string `json:"project"`          // owner of bundle and documents
	Bundle  string `json:"bundle"`           // digest of the bundle that may be read
	Builds  string `json:"builds,omitzero"`  // digest of the builds that may be read
	Builder bool   `json:"builder,omitzero"` // builds may be written
	Until   int64  `json:"until"`            // Unix time after which no file is served; Temporal itself decides about the task
}

// errSealed is the only error of open: what exactly is wrong helps only a forger.
var errSealed = errors.New("the task token is not one of this agent")

// sealer seals task tokens, so that an agent can neither read nor forge one, nor use that of another agent.
type sealer struct {
	aead      cipher.AEAD
	namespace string
}

const (
	sealVersion = 1
	minSecret   = 32
	maxLease    = 255
	maxSealed   = 8 << 10
)

func newSealer(secret []byte, namespace string) (sealer, error) {
	if len(secret) < minSecret {
		return sealer{}, fmt.Errorf("cannot create a gateway: its secret has %d bytes, want at least %d", len(secret), minSecret)
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "pawl gateway: task tokens, version 1", 32)
	if err != nil {
		return sealer{}, fmt.Errorf("cannot derive the gateway's key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("cannot create a gateway: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("cannot create a gateway: %w", err)
	}
	return sealer{aead, namespace}, nil
}

// seal returns version, length of the lease's name, the name, and the sealed rest.
func (s sealer) seal(agent string, g grant) ([]byte, error) {
	if g.Lease == "" || len(g.Lease) > maxLease {
		return nil, fmt.Errorf("cannot seal a task token: the name of its lease has %d bytes, want 1 to %d", len(g.Lease), maxLease)
	}
	text, err := json.Marshal(g)
	if err != nil {
		return nil, fmt.Errorf("cannot seal a task token: %w", err)
	}
	head := append([]byte{sealVersion, byte(len(g.Lease))}, g.Lease...)
	out := s.aead.Seal(head, nil, text, s.bound(agent, g.Lease)) //nolint:gosec // it draws the nonce itself
	if len(out) > maxSealed {
		return nil, fmt.Errorf("cannot seal a task token: it has %d bytes, want at most %d", len(out), maxSealed)
	}
	return out, nil
}

// open returns what a token of this agent grants. The name of the lease is returned with an error as well, for the audit log.
func (s sealer) open(agent string, sealed []byte) (grant, error) {
	if len(sealed) < 2 || len(sealed) > maxSealed || sealed[0] != sealVersion || len(sealed) < 2+int(sealed[1]) {
		return grant{}, errSealed
	}
	lease, rest := string(sealed[2:2+int(sealed[1])]), sealed[2+int(sealed[1]):]
	text, err := s.aead.Open(nil, nil, rest, s.bound(agent, lease))
	if err != nil {
		return grant{Lease: lease}, errSealed
	}
	g := grant{Lease: lease}
	if json.Unmarshal(text, &g) != nil {
		return grant{Lease: lease}, errSealed
	}
	return g, nil
}

// bound returns the additional data of a token: it opens only for this namespace, agent and lease. Lengths separate the fields.
func (s sealer) bound(agent, lease string) []byte {
	var b []byte
	for _, field := range []string{s.namespace, agent, lease} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(field))), field...)
	}
	return b
}
