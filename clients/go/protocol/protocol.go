// Package protocol is the part of Tenure's protocol that has no language: names and their order, tokens, records.
// See docs/protocol.md.
//
// It is for those who stand in the queue by themselves, over their own ZooKeeper client. Candidates of the sidecar
// need none of it.
package protocol

import (
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	// As ZooKeeper prints it: %010d, so the sign of a counter that has wrapped takes one of the ten places, or an
	// eleventh; there it shows behind the dash that ends the prefix.
	wrapped  = regexp.MustCompile(`-(-[0-9]{10})$`)
	positive = regexp.MustCompile(`([0-9]{10})$`)
	negative = regexp.MustCompile(`(-[0-9]{9})$`)

	decimal = regexp.MustCompile(`^[1-9][0-9]{0,18}$`)
)

// Sequence is a candidate's number; false where the name has none: such a node is no candidate.
func Sequence(node string) (int64, bool) {
	for _, form := range []*regexp.Regexp{wrapped, positive, negative} {
		if found := form.FindStringSubmatch(node); found != nil {
			number, err := strconv.ParseInt(found[1], 10, 64)
			return number, err == nil
		}
	}
	return 0, false
}

// InOrder returns the candidates among the nodes, first come first.
func InOrder(nodes []string) []string {
	type candidate struct {
		node     string
		sequence int64
	}
	candidates := make([]candidate, 0, len(nodes))
	for _, node := range nodes {
		if number, ok := Sequence(node); ok {
			candidates = append(candidates, candidate{node, number})
		}
	}
	sort.Slice(candidates, func(i, j int) bool {
		a, b := candidates[i], candidates[j]
		if a.sequence != b.sequence {
			return a.sequence < b.sequence
		}
		return lessByCodeUnits(a.node, b.node)
	})
	ordered := make([]string, len(candidates))
	for i, one := range candidates {
		ordered[i] = one.node
	}
	return ordered
}

func lessByCodeUnits(a, b string) bool {
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

// ParseToken reads a token: the decimal text of a number from 1 to 2^63 - 1.
func ParseToken(text string) (int64, error) {
	if !decimal.MatchString(text) {
		return 0, fmt.Errorf("%.60q is not a fencing token", text)
	}
	token, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.60q is not a fencing token", text)
	}
	return token, nil
}

// Token is a candidate's: the floor of the term record, and the transaction that created its node.
func Token(floor, czxid int64) (int64, error) {
	if floor < 0 || czxid < 0 || floor > math.MaxInt64-czxid || floor+czxid < 1 {
		return 0, fmt.Errorf("%d + %d is not a fencing token", floor, czxid)
	}
	return floor + czxid, nil
}

var reserved = map[string]bool{
	"": true, "queue": true, "term": true, "history": true, "sessions": true, ".": true, "..": true, "zookeeper": true,
}

// QueuePath is where the candidates of an election are, below root ("/tenure" as a rule) and the chroot.
func QueuePath(root, election string) (string, error) { return path(root, election, "queue") }

// TermPath is where an election's term record is.
func TermPath(root, election string) (string, error) { return path(root, election, "term") }

func path(root, election, leaf string) (string, error) {
	refused := fmt.Errorf("%.300q can't be the name of an election", election)
	// The limit is one of UTF-16 code units; none of the characters that have two is allowed.
	if !utf8.ValidString(election) || utf8.RuneCountInString(election) > 256 || strings.ContainsFunc(election, forbidden) {
		return "", refused
	}
	for _, segment := range strings.Split(election, "/") {
		if reserved[segment] {
			return "", refused
		}
	}
	return root + "/" + election + "/" + leaf, nil
}

func forbidden(r rune) bool {
	return r <= 0x1f || (r >= 0x7f && r <= 0x9f) || (r >= 0xd800 && r <= 0xf8ff) || r >= 0xfff0
}
