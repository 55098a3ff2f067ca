public import Errand

import ErrandEssentials

extension HTTPRequest {
    /// The request as a line that a shell runs as it stands, secrets masked.
    ///
    /// ```swift
    /// print(try agent.httpRequest(for: CreateUser(name: "Ada")).curlCommand())
    /// // curl --globoff --path-as-is -X 'POST' -H 'Content-Type: application/json' … 'https://api.example.com/users'
    /// ```
    ///
    /// Everything stands in single quotes, so nothing in it means anything to the shell. A body of text goes along as an
    /// argument, other bytes and what is longer than 64 KiB through `printf`; of a file only its path. A stream, and what
    /// is longer than 1 MiB, is left out, and a comment says so.
    ///
    /// - Parameter redaction: what is masked; nil shows the secrets, for one's own eyes only. Masked bodies are those
    ///   of forms and JSON; of other text nothing is known.
    public func curlCommand(redaction: LogRedaction? = LogRedaction()) -> String {
        var secrets = LogSecrets()
        let lines = redaction.map { $0.lines(headers, &secrets) } ?? headers.map { "\($0.name): \($0.value)" }
        var words = ["curl", "--globoff", "--path-as-is"]
        words += method == .head ? ["-I"] : ["-X", Self.quoted(method.rawValue)]
        for line in lines {
            // An empty value is written with a semicolon; a colon alone would take the header away.
            words += ["-H", Self.quoted(line.hasSuffix(": ") ? line.dropLast(2) + ";" : line)]
        }
        var before = ""
        var after = ""
        let body = data(redaction, &secrets)
        if let bytes = body {
            (before, after) = Self.body(bytes, &words)
        } else if !self.body.isNone {
            after = " # the body, \(self.body.length.map { "\($0) bytes" } ?? "a stream"), is left out"
        }
        // What curl adds of itself.
        var own: [HTTPHeaderName] = [.accept, .userAgent]
        if body != nil { own += [.contentType, "Expect"] }
        for name in own where !headers.contains(name) {
            if name == .contentType, let type = self.body.contentType {
                words += ["-H", Self.quoted("Content-Type: \(type)")]
            } else {
                words += ["-H", Self.quoted("\(name):")]
            }
        }
        let address = redaction.map { $0.url(url.absoluteString, &secrets) } ?? url.absoluteString
        words.append(Self.quoted(address))
        let command = before + words.joined(separator: " ") + after
        return redaction == nil ? command : secrets.masked(command)
    }

    private func data(_ redaction: LogRedaction?, _ secrets: inout LogSecrets) -> Data? {
        guard let data = body.data, data.count <= 1 << 20 else { return nil }
        guard let redaction else { return data }
        let type = headers[.contentType] ?? body.contentType ?? ""
        if type.contains("json") {
            let text = LogJSON.text(data, redaction, &secrets)
            // As it is, unless there was something to mask.
            return text.map { $0.contains(LogRedaction.mask) ? Data($0.utf8) : data }
        }
        if type.contains("form-urlencoded") {
            return Data(redaction.form(String(decoding: data, as: UTF8.self), &secrets).utf8)
        }
        return data
    }

    private static func body(_ bytes: Data, _ words: inout [String]) -> (before: String, after: String) {
        if bytes.count <= 64 << 10, !bytes.contains(0), bytes.first != UInt8(ascii: "@"),
            let text = String(validating: bytes, as: UTF8.self)
        {
            words += ["--data-binary", quoted(text)]
            return ("", "")
        }
        words += ["--data-binary", "@-"]
        var octal = ""
        octal.reserveCapacity(bytes.count * 4)
        for byte in bytes {
            let digits = String(byte, radix: 8)
            octal += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
        return ("printf '\(octal)' | ", "")
    }

    /// For any shell: nothing is special within single quotes but the quote itself.
    private static func quoted(_ text: some StringProtocol) -> String {
        "'" + String(text).replacing("'", with: #"'\''"#) + "'"
    }
}
