public import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandPlatform
import ErrandRedaction
import ErrandSupport

extension HTTPRequest {
    /// Returns a `curl` command that sends this request. The command works in any shell, and secrets in it are masked.
    ///
    /// ```swift
    /// print(try agent.httpRequest(for: CreateUser(name: "Ada")).curlCommand())
    /// // curl --globoff --path-as-is -X 'POST' -H 'Content-Type: application/json' … 'https://api.example.com/users'
    /// ```
    ///
    /// Arguments are in single quotes, so the shell doesn't interpret them. How the body is passed depends on its type
    /// and size:
    ///
    /// - Text is an argument of the command.
    /// - Other bytes, text with control characters, and text above 64 KiB go through `printf`.
    /// - Files, streams and bodies above 1 MiB are left out. A comment in the command tells you so.
    ///
    /// - Parameter redaction: The rules for masking secrets. They also apply to form, JSON and multipart bodies. A body
    ///   with a content coding is left out. Pass nil to include secrets, for your own eyes only.
    public func curlCommand(redaction: Redaction? = Redaction()) -> String {
        var redactor = redaction.map { Redactor($0) }
        let fields = redactor?.headers(headers) ?? headers
        var words = ["curl", "--globoff", "--path-as-is"]
        words += method == .head ? ["-I"] : ["-X", ShellText.quoted(method.rawValue)]
        // curl sets the length itself, because masking or the user may have changed the body.
        for field in fields where field.name != .contentLength {
            // To send a field with an empty value, curl expects a semicolon. A colon would remove the field.
            words += ["-H", ShellText.quoted(Self.line(field))]
        }
        var before = ""
        var after = ""
        let body = data(&redactor)
        if let bytes = body {
            (before, after) = Self.body(bytes, &words)
        } else if !self.body.isNone, self.body.length != 0 {
            after = " # the body, \(self.body.length.map { "\($0) bytes" } ?? "a stream"), is left out"
        }
        // If the request doesn't set the field, transports ask for the codings that they can decode. `--compressed`
        // makes curl do the same. It also makes curl decode the response if the request sets the field.
        let hasCoding = !["", "identity"].contains(headers[.acceptEncoding]?.lowercased() ?? "any")
        if hasCoding, !headers.contains(.range) { words.append("--compressed") }
        // curl adds these fields by itself, and a transport doesn't.
        var own: [HTTPHeaderName] = [.userAgent]
        if body != nil { own += [.contentType, .expect] }
        for name in own where !headers.contains(name) {
            if name == .contentType, let type = self.body.contentType {
                words += ["-H", ShellText.quoted("Content-Type: \(type)")]
            } else {
                words += ["-H", ShellText.quoted("\(name):")]
            }
        }
        words.append(ShellText.quoted(redactor?.url(urlText) ?? urlText))
        let command = before + words.joined(separator: " ") + after
        return redactor?.masking(command) ?? command
    }

    private static func line(_ field: HTTPHeaders.Field) -> String {
        ControlCharacters.escaped(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }

    private func data(_ redactor: inout Redactor?) -> Data? {
        guard let data = body.data, data.count <= 1 << 20 else { return nil }
        // Only these methods send an empty body's length (RFC 9110, section 8.6).
        if data.isEmpty, method != .post, method != .put, method != .patch { return nil }
        guard redactor != nil else { return data }
        let type = headers[.contentType] ?? body.contentType
        let shown = redactor?.body(data, contentType: type, contentCoding: headers[.contentEncoding])
        guard case .shown(let masked) = shown else { return nil }
        let isJSON = type.flatMap { MediaType.essence(of: $0) }.map {
            $0 == "application/json" || $0.hasSuffix("+json")
        }
        return masked != data && isJSON == true ? Data(JSONIndenter.text(masked).utf8) : masked
    }

    private static func body(_ bytes: Data, _ words: inout [String]) -> (before: String, after: String) {
        if bytes.count <= 64 << 10, !bytes.contains(0), bytes.first != UInt8(ascii: "@"),
            let text = String(validating: bytes, as: UTF8.self),
            isHarmless(text)
        {
            words += ["--data-binary", ShellText.quoted(text)]
            return ("", "")
        }
        words += ["--data-binary", "@-"]
        return (ShellText.piping(bytes), "")
    }

    /// Whether a text can be printed as it is, without moving the terminal's cursor.
    private static func isHarmless(_ text: String) -> Bool {
        let lines = text.replacing("\r\n", with: "\n")
        return lines == ControlCharacters.escaped(lines, allowsLines: true)
    }
}
