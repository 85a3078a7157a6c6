# Holds measured figures against what they must show; see scripts/check-figures.

function read_csv(file, into, key1, key2,    line, head, n, i, f, at, k) {
	getline line < file
	n = split(line, head, ",")
	for (i = 1; i <= n; i++) at[head[i]] = i
	while ((getline line < file) > 0) {
		split(line, f, ",")
		k = key2 == "" ? f[at[key1]] : f[at[key1]] SUBSEP f[at[key2]]
		for (i = 1; i <= n; i++) into[k, head[i]] = f[i]
		rows[file, ++rows[file]] = k
	}
	close(file)
}

function check(what, value, low, high,    ok) {
	ok = value != "" && value + 0 >= low && value + 0 <= high
	printf "%-6s %-62s %10s   wanted %g to %g\n", ok ? "ok" : "FAILED", what, value == "" ? "not reached" : sprintf("%.2f", value), low, high
	if (!ok) failures++
}

BEGIN {
	read_csv(levels, L, "protection", "machines")
	read_csv(marks, M, "protection", "")
	read_csv(series, S, "second", "")
	peak = M["off", "peak_rps"]
	check("off: goodput at 4 machines", L["off", 4, "goodput_rps"], 1475 * 0.95, 1475 * 1.05)
	check("off: peak", peak, 1900 * 0.97, 1900 * 1.03)
	check("off: half of the peak at so many machines", M["off", "half_machines"], 12, 13)
	check("off: goodput at 14, in % of the peak", 100 * L["off", 14, "goodput_rps"] / peak, 0, 1)
	check("off: failures/s at 14", L["off", 14, "failed_rps"], 1570 * 0.92, 1570 * 1.08)
	check("on: peak, in % of the off peak", 100 * M["on", "peak_rps"] / peak, 97, 103)
	check("on: goodput at 14", L["on", 14, "goodput_rps"], 1580 * 0.92, 1580 * 1.08)
	check("on: half of the peak at so many machines", M["on", "half_machines"], 24, 27)
	check("on: goodput at 37, in % of the peak", 100 * L["on", 37, "goodput_rps"] / M["on", "peak_rps"], 0, 25)
	check("on: rejected/s at 37, as a multiple of those at 16", L["on", 37, "rejected_rps"] / (L["on", 16, "rejected_rps"] + 1e-9), 5, 1e9)
	weak = wrong = 0
	low = 3; high = 0; acked = ""
	for (i = 1; i <= rows[levels]; i++) {
		k = rows[levels, i]
		wrong += L[k, "wrong_total"] + L[k, "lost_total"]
		if (L[k, "generator_ok"] != "true") weak++
		if (L[k, "copies_per_write"] < low) low = L[k, "copies_per_write"]
		if (L[k, "copies_per_write"] > high) high = L[k, "copies_per_write"]
	}
	check("all rows: wrong and lost", wrong, 0, 0)
	check("all rows: copies sent per write, lowest", low, 3, 3)
	check("all rows: copies sent per write, highest", high, 3, 3)
	check("rows that the machine could not measure", weak, 0, 0)
	before = best_on = 0; last = 1e9
	for (s = 5; s <= 8; s++) before += S[s, "ok"]
	for (s = 10; s <= 15; s++) if (S[s, "ok"] > best_on) best_on = S[s, "ok"]
	for (s = 24; s <= 29; s++) if (S[s, "ok"] < last) last = S[s, "ok"]
	check("the switch: goodput/s before it, collapsed", before / 4, 0, 19)
	check("the switch: best second within 5 s of on", best_on, 1300, 1e9)
	check("the switch: goodput/s after off again", last, 0, 19)
	exit failures > 0
}
