package facts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// asks is how often the clock is asked. The fastest answer counts: the others were held
// up on one of the two ways.
const asks = 8

// Clock is how a host's clock stands to that of whoever asked.
type Clock struct {
	RoundTrip time.Duration // of the fastest of some questions
	Offset    time.Duration // positive: it is ahead. It is wrong by RoundTrip/2 at most
}

// Serve says the facts in a line of JSON, and the time for each line that it reads, until
// there are no more.
func Serve(in io.Reader, out io.Writer) error {
	if err := json.NewEncoder(out).Encode(Gather()); err != nil {
		return fmt.Errorf("say the facts: %w", err)
	}
	questions := bufio.NewScanner(in)
	for questions.Scan() {
		if _, err := fmt.Fprintln(out, time.Now().UnixNano()); err != nil {
			return fmt.Errorf("say the time: %w", err)
		}
	}
	return questions.Err()
}

// Ask speaks with a Serve at the other end.
func Ask(in io.Writer, out io.Reader) (Facts, Clock, error) {
	var f Facts
	answers := bufio.NewReader(out)
	line, err := answers.ReadString('\n')
	if err != nil {
		return f, Clock{}, fmt.Errorf("read its facts: %w", err)
	}
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		return f, Clock{}, fmt.Errorf("read its facts: %w", err)
	}
	var c Clock
	for range asks {
		sent := time.Now()
		if _, err := io.WriteString(in, "\n"); err != nil {
			return f, c, fmt.Errorf("ask its clock: %w", err)
		}
		line, err := answers.ReadString('\n')
		took := time.Since(sent)
		if err != nil {
			return f, c, fmt.Errorf("ask its clock: %w", err)
		}
		nanos, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return f, c, fmt.Errorf("ask its clock: %w", err)
		}
		if c.RoundTrip == 0 || took < c.RoundTrip {
			c = Clock{RoundTrip: took, Offset: time.Unix(0, nanos).Sub(sent.Add(took / 2))}
		}
	}
	return f, c, nil
}
