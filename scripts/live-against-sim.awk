# Sets a live run beside a simulated one; see scripts/live-against-sim.

# read_csv files each row of a CSV under its protection, its policy and, if given, one more column.
function read_csv(file, into, more,    line, head, n, i, f, at, k) {
	getline line < file
	n = split(line, head, ",")
	for (i = 1; i <= n; i++) at[head[i]] = i
	while ((getline line < file) > 0) {
		split(line, f, ",")
		k = f[at["protection"]] " " f[at["policy"]]
		if (more != "") k = k " " f[at[more]]
		for (i = 1; i <= n; i++) into[k, head[i]] = f[i]
		rows[file, ++rows[file]] = k
	}
	close(file)
}

# steep reports whether a simulated curve falls by more than a tenth of its peak for each machine
# just before or after a level.
function steep(k,    c, i) {
	c = curve(k)
	for (i = place[k]; i <= place[k] + 1; i++)
		if (i > 1 && i <= levels[c] && drop(order[c, i - 1], order[c, i]) > peak[c] / 10) return 1
	return 0
}

function drop(from, to) {
	return (S[from, "goodput_rps"] - S[to, "goodput_rps"]) / (S[to, "machines"] - S[from, "machines"])
}

function curve(k) { return S[k, "protection"] " " S[k, "policy"] }

function level(k,    c, live, sim, d, verdict) {
	c = curve(k); live = L[k, "goodput_rps"] + 0; sim = S[k, "goodput_rps"] + 0
	d = sim > 0 ? 100 * (live / sim - 1) : 0
	if (live < peak[c] / 100 && sim < peak[c] / 100) verdict = "ok: nothing"
	else if (L[k, "generator_ok"] != "true") { verdict = "not measured: the machine was too busy"; unmeasured++ }
	else if (d <= 5 && d >= -5) verdict = "ok"
	else if (steep(k)) verdict = "on the cliff"
	else { verdict = "DIFFERS"; failures++ }
	printf row, L[k, "machines"], L[k, "protection"], L[k, "policy"], sprintf("%.0f", live), sprintf("%.0f", sim),
		sprintf("%+.1f", d), sprintf("%.0f", L[k, "failed_rps"]), sprintf("%.0f", S[k, "failed_rps"]),
		sprintf("%.1f", L[k, "p99_ms"]), sprintf("%.1f", S[k, "p99_ms"]), verdict
}

function mark(k, name, bound,    live, sim, verdict) {
	live = LM[k, name]; sim = SM[k, name]
	verdict = "ok"
	if (live == "" && sim == "") return
	if (live == "" || sim == "") verdict = "reached by one of them"
	else if (live - sim > bound || sim - live > bound) { verdict = "DIFFERS"; failures++ }
	printf "%-18s %-22s %12s %12s  %s\n", k, name, live == "" ? "-" : live, sim == "" ? "-" : sim, verdict
}

BEGIN {
	read_csv(dir "/load.csv", L, "machines")
	read_csv(dir "/sim.csv", S, "machines")
	read_csv(dir "/load.marks.csv", LM, "")
	read_csv(dir "/sim.marks.csv", SM, "")
	for (i = 1; i <= rows[dir "/sim.csv"]; i++) {
		k = rows[dir "/sim.csv", i]; c = curve(k)
		order[c, place[k] = ++levels[c]] = k
		if (S[k, "goodput_rps"] + 0 > peak[c]) peak[c] = S[k, "goodput_rps"] + 0
	}
	row = "%8s  %-10s %-10s %8s %8s %7s %9s %9s %7s %7s  %s\n"
	printf row, "machines", "protection", "policy", "live/s", "sim/s", "%", "failed/s", "sim/s", "p99 ms", "sim", ""
	for (i = 1; i <= rows[dir "/sim.csv"]; i++) level(rows[dir "/sim.csv", i])
	printf "\n%-18s %-22s %12s %12s\n", "curve", "mark", "live", "sim"
	for (i = 1; i <= rows[dir "/sim.marks.csv"]; i++) {
		k = rows[dir "/sim.marks.csv", i]
		mark(k, "peak_rps", 0.03 * SM[k, "peak_rps"])
		mark(k, "half_machines", 1)
		mark(k, "zero_machines", 1)
		mark(k, "last_share_of_peak", 0.05)
	}
	if (unmeasured > 0) printf "\n%d levels were not measured, and the marks lean on them: run it on a quieter machine\n", unmeasured
	exit failures > 0
}
