import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandPlatform
import ErrandRecording
import ErrandSupport

enum CurlCommand {
    static func text(of request: RecordedExchange.Request) -> String {
        var words = ["curl", "--globoff", "--path-as-is"]
        words += request.method == .head ? ["-I"] : ["-X", quoted(request.method.rawValue)]
        // curl sets the length itself, because masking or the user may have changed the body.
        for field in request.headers where field.name != .contentLength {
            // To send a field with an empty value, curl expects a semicolon. A colon would remove the field.
            let line = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            words += ["-H", quoted(line)]
        }
        let hasCoding = !["", "identity"].contains(request.headers[.acceptEncoding]?.lowercased() ?? "any")
        if hasCoding, !request.headers.contains(.range) {
            words.append("--compressed")
        }
        var (before, after) = ("", "")
        let body = request.body
        if body.omission != nil || body.isTruncated {
            after = " # the body, \(body.length ?? 0) bytes, is left out"
        } else if let text = body.text, !text.isEmpty {
            if text.first != "@", ControlCharacters.escaped(text, allowsLines: true) == text {
                words += ["--data-binary", ShellText.quoted(text)]
            } else {
                (before, words) = (ShellText.piping(body.data), words + ["--data-binary", "@-"])
            }
        } else if !body.data.isEmpty {
            (before, words) = (ShellText.piping(body.data), words + ["--data-binary", "@-"])
        }
        let own: [HTTPHeaderName] = [.userAgent] + (words.contains("--data-binary") ? [.contentType, .expect] : [])
        for name in own where !request.headers.contains(name) {
            let type = name == .contentType ? request.body.contentType.map { " \($0)" } : nil
            words += ["-H", quoted("\(name.rawName):\(type ?? "")")]
        }
        words.append(quoted(request.url))
        return before + words.joined(separator: " ") + after
    }

    /// Quotes a text for the shell. Escapes control characters, because they could control the terminal.
    private static func quoted(_ text: String) -> String { ShellText.quoted(ControlCharacters.escaped(text)) }
}
