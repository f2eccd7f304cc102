package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"unicode/utf8"
)

// CandidateMaxBytes is the most that a candidate's data may weigh.
const CandidateMaxBytes = 8192

// Candidate is what a candidate's node says of it.
type Candidate struct {
	ID       string
	Host     string
	PID      int64
	Metadata json.RawMessage
	JoinedAt string
}

// Record is an election's one record. Latest is nil while nobody has led.
type Record struct {
	Latest   *TermOfRecord
	Floor    int64
	Pause    *Pause
	Transfer *Transfer
	Previous *Previous
}

// TermOfRecord is the latest term.
type TermOfRecord struct {
	Term      int64
	Token     int64
	Node      string
	LeaderID  string
	Session   string
	LeaseMs   int64
	Metadata  json.RawMessage
	ElectedAt string
	Ended     *Ended
}

// Ended says when and how a term ended.
type Ended struct {
	At  string `json:"at"`
	How string `json:"how"`
}

// Pause stops all claims.
type Pause struct {
	By     string `json:"by"`
	At     string `json:"at"`
	Reason string `json:"reason"`
}

// Transfer hands the leadership to a node.
type Transfer struct {
	To       string `json:"to"`
	By       string `json:"by"`
	At       string `json:"at"`
	Reason   string `json:"reason"`
	Deadline string `json:"deadline"`
}

// Previous is the term before the latest.
type Previous struct {
	Term     int64
	Token    int64
	LeaderID string
	End      string
}

var (
	floorForm = regexp.MustCompile(`^(0|[1-9][0-9]{0,18})$`)
	ends      = map[string]bool{
		"resigned": true, "paused": true, "transferred": true, "evicted": true, "died": true, "vanished": true,
	}
)

// DecodeRecord reads a term record. What it can't read must not be overwritten.
func DecodeRecord(data []byte) (Record, error) {
	if len(data) == 0 {
		return Record{}, nil
	}
	value, ok := object(data)
	if !ok {
		return Record{}, errors.New("the term record is not a JSON object")
	}
	if version, ok := number(value["v"]); !ok || version != 1 {
		return Record{}, fmt.Errorf("the term record's version is %s, 1 is read here", value["v"])
	}
	var record Record
	r := reader{value: value}
	if term, ok := number(value["term"]); !ok || term != 0 {
		record.Latest = &TermOfRecord{
			Term: r.positive("term"), Token: r.token("token"), Node: r.text("node"), LeaderID: r.text("leaderId"),
			Session: r.text("session"), LeaseMs: r.positive("leaseMs"), Metadata: metadata(value["metadata"]),
			ElectedAt: r.text("electedAt"),
		}
		if ended := r.object("ended"); ended != nil {
			record.Latest.Ended = &Ended{At: ended.text("at"), How: ended.end("how")}
			r.add(ended.err)
		}
	}
	record.Floor = r.floor("floor")
	if pause := r.object("pause"); pause != nil {
		record.Pause = &Pause{By: pause.text("by"), At: pause.text("at"), Reason: pause.text("reason")}
		r.add(pause.err)
	}
	if to := r.object("transfer"); to != nil {
		record.Transfer = &Transfer{
			To: to.text("to"), By: to.text("by"), At: to.text("at"), Reason: to.text("reason"), Deadline: to.text("deadline"),
		}
		r.add(to.err)
	}
	if before := r.object("previous"); before != nil {
		record.Previous = &Previous{
			Term: before.positive("term"), Token: before.token("token"), LeaderID: before.text("leaderId"), End: before.end("end"),
		}
		r.add(before.err)
	}
	if r.err != nil {
		return Record{}, fmt.Errorf("the term record can't be read: %w", r.err)
	}
	return record, nil
}

// EncodeRecord writes a term record.
func EncodeRecord(record Record) ([]byte, error) {
	type head struct {
		V    int   `json:"v"`
		Term int64 `json:"term"`
	}
	type term struct {
		head
		Token     string          `json:"token"`
		Node      string          `json:"node"`
		LeaderID  string          `json:"leaderId"`
		Session   string          `json:"session"`
		LeaseMs   int64           `json:"leaseMs"`
		Metadata  json.RawMessage `json:"metadata"`
		ElectedAt string          `json:"electedAt"`
		Ended     *Ended          `json:"ended"`
	}
	type previous struct {
		Term     int64  `json:"term"`
		Token    string `json:"token"`
		LeaderID string `json:"leaderId"`
		End      string `json:"end"`
	}
	type tail struct {
		Floor    string    `json:"floor"`
		Pause    *Pause    `json:"pause"`
		Transfer *Transfer `json:"transfer"`
		Previous *previous `json:"previous"`
	}
	end := tail{Floor: strconv.FormatInt(record.Floor, 10), Pause: record.Pause, Transfer: record.Transfer}
	if before := record.Previous; before != nil {
		end.Previous = &previous{before.Term, strconv.FormatInt(before.Token, 10), before.LeaderID, before.End}
	}
	latest := record.Latest
	if latest == nil {
		return encode(struct {
			head
			tail
		}{head{V: 1}, end})
	}
	return encode(struct {
		term
		tail
	}{term{
		head{1, latest.Term}, strconv.FormatInt(latest.Token, 10), latest.Node, latest.LeaderID, latest.Session,
		latest.LeaseMs, metadata(latest.Metadata), latest.ElectedAt, latest.Ended,
	}, end})
}

// DecodeCandidate reads a candidate's data as far as it can be read; false for what is foreign. Never trust it.
func DecodeCandidate(data []byte) (Candidate, bool) {
	value, ok := object(data)
	if !ok {
		return Candidate{}, false
	}
	id, ok := text(value["id"])
	if !ok {
		return Candidate{}, false
	}
	host, _ := text(value["host"])
	joinedAt, _ := text(value["joinedAt"])
	pid, _ := number(value["pid"])
	return Candidate{id, host, int64(pid), metadata(value["metadata"]), joinedAt}, true
}

// EncodeCandidate writes what a candidate's node holds; it must not be more than 8 KiB.
func EncodeCandidate(candidate Candidate) ([]byte, error) {
	data, err := encode(struct {
		V        int             `json:"v"`
		ID       string          `json:"id"`
		Host     string          `json:"host"`
		PID      int64           `json:"pid"`
		Metadata json.RawMessage `json:"metadata"`
		JoinedAt string          `json:"joinedAt"`
	}{1, candidate.ID, candidate.Host, candidate.PID, metadata(candidate.Metadata), candidate.JoinedAt})
	if err == nil && len(data) > CandidateMaxBytes {
		return nil, fmt.Errorf("id and metadata take %d bytes of JSON, at most %d are allowed", len(data), CandidateMaxBytes)
	}
	return data, err
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// object reads a JSON object as it is written: a struct's fields would match keys in any case, and take what isn't UTF-8.
func object(data []byte) (map[string]json.RawMessage, bool) {
	var value map[string]json.RawMessage
	if !utf8.Valid(data) || json.Unmarshal(data, &value) != nil {
		return nil, false
	}
	return value, value != nil
}

func text(raw json.RawMessage) (string, bool) {
	var value *string
	if json.Unmarshal(raw, &value) != nil || value == nil {
		return "", false
	}
	return *value, true
}

func number(raw json.RawMessage) (float64, bool) {
	var value *float64
	if json.Unmarshal(raw, &value) != nil || value == nil {
		return 0, false
	}
	return *value, true
}

func metadata(raw json.RawMessage) json.RawMessage {
	if _, ok := object(raw); !ok {
		return json.RawMessage("{}")
	}
	return raw
}

// reader keeps the first thing that it couldn't read.
type reader struct {
	value map[string]json.RawMessage
	err   error
}

func (r *reader) add(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) refuse(key string) { r.add(fmt.Errorf("%q is %.60s", key, r.value[key])) }

func (r *reader) text(key string) string {
	value, ok := text(r.value[key])
	if !ok {
		r.refuse(key)
	}
	return value
}

func (r *reader) positive(key string) int64 {
	value, ok := number(r.value[key])
	if !ok || value < 1 || value > 1<<53-1 || value != float64(int64(value)) {
		r.refuse(key)
		return 0
	}
	return int64(value)
}

func (r *reader) token(key string) int64 {
	token, err := ParseToken(r.text(key))
	r.add(err)
	return token
}

func (r *reader) floor(key string) int64 {
	value := r.text(key)
	floor, err := strconv.ParseInt(value, 10, 64)
	if err != nil || !floorForm.MatchString(value) {
		r.refuse(key)
	}
	return floor
}

func (r *reader) end(key string) string {
	value := r.text(key)
	if !ends[value] {
		r.refuse(key)
	}
	return value
}

// object is nil where there is none, or null.
func (r *reader) object(key string) *reader {
	raw := r.value[key]
	if raw == nil || string(raw) == "null" {
		return nil
	}
	value, ok := object(raw)
	if !ok {
		r.refuse(key)
		return nil
	}
	return &reader{value: value}
}
