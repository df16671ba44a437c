package wake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// Store is the state file. Only one process can hold it.
type Store struct {
	path string
	lock *os.File
	last []byte // content on disk
}

const maxState = 64 << 20

// OpenStore locks and reads the state file. If there is none, it returns a new state.
func OpenStore(path string) (*Store, *State, error) {
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot lock the state: %w", err)
	}
	if err := tryLock(lock); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil, fmt.Errorf("cannot lock the state: another pawl wake serve uses %s, and two would start hosts twice", path)
		}
		return nil, nil, fmt.Errorf("cannot lock the state %s: %w", path, err)
	}
	state, err := LoadState(path)
	if errors.Is(err, fs.ErrNotExist) {
		state, err = NewState(), nil
	}
	if err != nil {
		lock.Close()
		return nil, nil, err
	}
	return &Store{path: path, lock: lock}, state, nil
}

// Close releases the file.
func (st *Store) Close() error { return st.lock.Close() }

// Save writes the state atomically and returns when it is on disk.
func (st *Store) Save(s *State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("cannot save the state: %w", err)
	}
	if bytes.Equal(data, st.last) {
		return nil
	}
	err = disk.Replace(st.path, 0o600, func(w io.Writer) error { _, err := w.Write(data); return err })
	if err != nil {
		return fmt.Errorf("cannot save the state: %w", err)
	}
	st.last = data
	return nil
}

// LoadState reads a state file, even one that is in use.
func LoadState(path string) (*State, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the state: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the state: %w", err)
	}
	s, err := DecodeState(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read the state: %s: %w: check the file; without it, pawl wake starts over and does not know today's costs", path, err)
	}
	return s, nil
}

// DecodeState parses a state. On an error it does not start with a new state: today's spending must not
// be forgotten.
func DecodeState(data []byte) (*State, error) {
	if len(data) > maxState {
		return nil, fmt.Errorf("longer than %d bytes", maxState)
	}
	s := NewState()
	s.Schema = ""
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	if s.Schema != schema {
		return nil, fmt.Errorf("its schema is %q, not %q", s.Schema, schema)
	}
	if s.Jobs == nil || s.Hosts == nil || s.Polled == nil {
		return nil, errors.New("it lacks jobs, hosts or polled")
	}
	if s.Day.On == nil {
		s.Day.On = map[string]time.Duration{}
	}
	if _, err := time.Parse(time.DateOnly, s.Day.Date); err != nil && s.Day.Date != "" {
		return nil, fmt.Errorf("its day %q is not a date", s.Day.Date)
	}
	for key, j := range s.Jobs {
		if j == nil || j.key() != key {
			return nil, fmt.Errorf("job %q does not match its key", key)
		}
	}
	for name, h := range s.Hosts {
		if h == nil || h.Flight != nil && h.Flight.Kind != Start && h.Flight.Kind != Stop {
			return nil, fmt.Errorf("host %q is invalid", name)
		}
	}
	return s, nil
}

func tryLock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
