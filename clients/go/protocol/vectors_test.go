package protocol

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// The vectors that the TypeScript code passes too.
func vectors(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("../../../test/vectors/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type sample struct {
	About  string
	Text   string
	Normal *string
	Hex    string
}

func (s sample) normal() string {
	if s.Normal == nil {
		return s.Text
	}
	return *s.Normal
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestQueue(t *testing.T) {
	var given struct {
		Sequence []struct {
			Node     string
			Sequence *int64
		}
		Order []struct {
			About          string
			Nodes, Ordered []string
		}
	}
	vectors(t, "queue", &given)
	if len(given.Sequence) == 0 || len(given.Order) == 0 {
		t.Fatal("no vectors")
	}
	for _, one := range given.Sequence {
		number, ok := Sequence(one.Node)
		if ok != (one.Sequence != nil) || (ok && number != *one.Sequence) {
			t.Errorf("%q: %d, %v", one.Node, number, ok)
		}
	}
	for _, one := range given.Order {
		if ordered := InOrder(one.Nodes); !reflect.DeepEqual(ordered, one.Ordered) {
			t.Errorf("%s: %q", one.About, ordered)
		}
	}
}

func TestToken(t *testing.T) {
	var given struct {
		Good, Bad []string
		Sum       []struct {
			Floor, Czxid string
			Token        *string
		}
	}
	vectors(t, "token", &given)
	if len(given.Good) == 0 || len(given.Bad) == 0 || len(given.Sum) == 0 {
		t.Fatal("no vectors")
	}
	for _, text := range given.Good {
		if token, err := ParseToken(text); err != nil || strconv.FormatInt(token, 10) != text {
			t.Errorf("%s: %d, %v", text, token, err)
		}
	}
	for _, text := range given.Bad {
		if token, err := ParseToken(text); err == nil {
			t.Errorf("%q: %d", text, token)
		}
	}
	for _, one := range given.Sum {
		floor, _ := strconv.ParseInt(one.Floor, 10, 64)
		czxid, _ := strconv.ParseInt(one.Czxid, 10, 64)
		token, err := Token(floor, czxid)
		if (err == nil) != (one.Token != nil) || (err == nil && strconv.FormatInt(token, 10) != *one.Token) {
			t.Errorf("%s + %s: %d, %v", one.Floor, one.Czxid, token, err)
		}
	}
}

func TestRecord(t *testing.T) {
	var given struct{ Good, Bad, BadHex []sample }
	vectors(t, "record", &given)
	if len(given.Good) == 0 || len(given.Bad) == 0 || len(given.BadHex) == 0 {
		t.Fatal("no vectors")
	}
	for _, one := range given.Good {
		record, err := DecodeRecord([]byte(one.Text))
		if err != nil {
			t.Errorf("%s: %v", one.About, err)
			continue
		}
		if data, err := EncodeRecord(record); err != nil || string(data) != one.normal() {
			t.Errorf("%s: %v\n%s\n%s", one.About, err, data, one.normal())
		}
	}
	for _, one := range append(given.Bad, given.BadHex...) {
		data := []byte(one.Text)
		if one.Hex != "" {
			data = unhex(t, one.Hex)
		}
		if record, err := DecodeRecord(data); err == nil {
			t.Errorf("%s: %+v", one.About, record)
		}
	}
}

func TestCandidate(t *testing.T) {
	var given struct {
		Good, Foreign, ForeignHex []sample
		TooLarge                  int
	}
	vectors(t, "candidate", &given)
	if len(given.Good) == 0 || len(given.Foreign) == 0 || len(given.ForeignHex) == 0 {
		t.Fatal("no vectors")
	}
	for _, one := range given.Good {
		candidate, ok := DecodeCandidate([]byte(one.Text))
		data, err := EncodeCandidate(candidate)
		if !ok || err != nil || string(data) != one.normal() {
			t.Errorf("%s: %v %v\n%s\n%s", one.About, ok, err, data, one.normal())
		}
	}
	for _, one := range append(given.Foreign, given.ForeignHex...) {
		data := []byte(one.Text)
		if one.Hex != "" {
			data = unhex(t, one.Hex)
		}
		if candidate, ok := DecodeCandidate(data); ok {
			t.Errorf("%s: %+v", one.About, candidate)
		}
	}
	candidate, _ := DecodeCandidate([]byte(given.Good[0].Text))
	candidate.ID = strings.Repeat("x", given.TooLarge)
	if _, err := EncodeCandidate(candidate); err == nil {
		t.Error("too large, and written")
	}
	candidate.ID = candidate.ID[1:]
	if data, err := EncodeCandidate(candidate); err != nil || len(data) != CandidateMaxBytes {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestElection(t *testing.T) {
	var given struct {
		Good    []struct{ Name, Queue string }
		Bad     []string
		Longest int
	}
	vectors(t, "election", &given)
	if len(given.Good) == 0 || len(given.Bad) == 0 {
		t.Fatal("no vectors")
	}
	for _, one := range given.Good {
		if path, err := QueuePath("/tenure", one.Name); err != nil || path != one.Queue {
			t.Errorf("%s: %s, %v", one.Name, path, err)
		}
	}
	for _, name := range append(given.Bad, strings.Repeat("x", given.Longest+1)) {
		if path, err := QueuePath("/tenure", name); err == nil {
			t.Errorf("%q: %s", name, path)
		}
	}
	if _, err := QueuePath("/tenure", strings.Repeat("x", given.Longest)); err != nil {
		t.Error(err)
	}
}
