import Errand

/// Finds the user and password: in the URL, then `--user`, then netrc. Asks once for a missing password.
struct Credentials {
    typealias Mistake = DownloadArguments.Mistake

    var user: String?
    var password: String?
    var netrc: Netrc?
    /// Asks the user at the terminal. Throws without a terminal.
    var ask: (_ prompt: String) throws(Mistake) -> String
    private var asked: [String: String] = [:]

    init(
        user: String?, netrc: Netrc?,
        ask: @escaping (_ prompt: String) throws(Mistake) -> String
    ) {
        let parts = user?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        self.user = parts.map { String($0[0]) }
        password = parts.flatMap { $0.count > 1 ? String($0[1]) : nil }
        (self.netrc, self.ask) = (netrc, ask)
    }

    mutating func authorization(for url: TargetURL) throws(Mistake) -> Authorization? {
        let name = url.user ?? user
        let known = url.user == nil ? password : url.password
        guard let name, !name.isEmpty || known != nil else {
            guard let entry = netrc?.entry(for: url.host), entry.login != nil || entry.password != nil else {
                return nil
            }
            return .basic(user: entry.login ?? "", password: entry.password ?? "")
        }
        if let known { return .basic(user: name, password: known) }
        if let found = netrc?.entry(for: url.host, login: name)?.password { return .basic(user: name, password: found) }
        let key = url.user == nil ? name : "\(name)@\(url.host)"
        if asked[key] == nil { asked[key] = try ask("Password for \(TextLayout.printable(key)): ") }
        return .basic(user: name, password: asked[key] ?? "")
    }
}
