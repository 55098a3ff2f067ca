/// Suggests a known option in place of an unknown option.
enum Suggestion {
    /// Returns a sentence without its period, or nil if no option is similar.
    static func text(for option: String) -> String? {
        let name = String(option.drop { $0 == "-" }.prefix { $0 != "=" })
        if let known = elsewhere["--\(name)"], option.hasPrefix("--") { return known }
        if !option.hasPrefix("--"), let known = elsewhere["-\(name)"] { return known }
        let near = OptionName.allCases.map { ($0, distance(name, $0.rawValue)) }.min { $0.1 < $1.1 }
        guard let near, name.count > 1, near.1 <= max(1, name.count / 3) else { return nil }
        return "did you mean \(near.0.long)?"
    }

    /// Options of curl, wget and aria2c that have another name here, or no equivalent.
    static let elsewhere: [String: String] = [
        "--silent": "did you mean --quiet?", "-s": "did you mean --quiet?", "--no-verbose": "did you mean --quiet?",
        "--output-document": "did you mean --output?", "-O": "a file is always written; see --output",
        "--remote-name": "the file is named by the URL unless you name it", "--out": "did you mean --output?",
        "--remote-header-name": "the server's name is used unless you name the file",
        "-J": "the server's name is used unless you name the file",
        "--output-dir": "did you mean --directory?", "--dir": "did you mean --directory?",
        "--directory-prefix": "did you mean --directory?", "-P": "did you mean --directory?",
        "--input-file": "did you mean --input?", "-Z": "did you mean --parallel?",
        "--max-concurrent-downloads": "did you mean --parallel?", "--parallel-max": "did you mean --parallel?",
        "--split": "did you mean --segments?", "--max-connection-per-server": "did you mean --segments?",
        "--retry": "did you mean --tries?", "--max-tries": "did you mean --tries?",
        "--continue": "downloads resume by themselves", "-c": "downloads resume by themselves",
        "--continue-at": "downloads resume by themselves", "-C": "downloads resume by themselves",
        "--location": "redirects are followed by themselves", "-L": "redirects are followed by themselves",
        "--fail": "a refusal by the server is always a failure", "-f": "a refusal by the server is always a failure",
        "--http-user": "did you mean --user?", "--http-passwd": "did you mean --user NAME:PASSWORD?",
        "--http-password": "did you mean --user NAME:PASSWORD?", "--checksum": "did you mean --sha256?",
        "--max-download-limit": "did you mean --limit-rate?",
        "--max-overall-download-limit": "did you mean --limit-rate?",
        "--ca-certificate": "did you mean --cacert?", "--all-proxy": "did you mean --proxy?",
        "--read-timeout": "did you mean --timeout?", "--speed-time": "did you mean --timeout?",
        "--user-agent": "write --header 'User-Agent: …'", "-A": "write --header 'User-Agent: …'",
        "--referer": "write --header 'Referer: …'", "-e": "write --header 'Referer: …'",
        "--insecure": "certificates are always verified; --cacert trusts another authority",
        "-k": "certificates are always verified; --cacert trusts another authority",
        "--no-check-certificate": "certificates are always verified; --cacert trusts another authority",
        "--check-certificate": "certificates are always verified; --cacert trusts another authority",
        "--netrc-path": "did you mean --netrc-file?", "-nc": "did you mean --no-clobber?",
        "--allow-overwrite": "did you mean --overwrite?", "--progress": "did you mean --json?",
    ]

    /// The edit distance: insertions, deletions, replacements, and swaps of neighbors.
    static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a.lowercased().prefix(40)), Array(b.lowercased().prefix(40)))
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var rows = [Array(0...b.count)]
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, rows[i - 2][j - 2] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
