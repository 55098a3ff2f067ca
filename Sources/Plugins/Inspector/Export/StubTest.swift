import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandRecording

/// Writes the source code of a test that gets the same response from a stub instead of a server.
enum StubTest {
    static func text(of activity: MaskedActivity) -> String? {
        guard let last = activity.exchanges.last, let response = last.response,
            let (base, path, query) = parts(last.request.url)
        else { return nil }
        let method =
            methods[last.request.method.rawValue] ?? "HTTPMethod(rawValue: \(literal(last.request.method.rawValue)))"
        let type = response.body.contentType.map { "headers: [\"Content-Type\": \(literal($0))], " } ?? ""
        let (body, remark) = body(response.body)
        let imports = ["Errand", "ErrandTesting", "Foundation", "Testing"].map { "import \($0)" }
        return """
            \(imports.joined(separator: "\n"))

            @Test(\(literal("\(last.request.method.rawValue) \(path) gives \(response.status)")))
            func recordedResponse() async throws {
            \(remark)    let response = StubResponse(
                    status: \(response.status), \(type)
                    body: \(body))
                let transport = StubTransport()
                transport.on(\(method), \(literal(path)), response: response)
                let agent = NetworkAgent(baseURL: \(literal(base)), transport: transport)
                let call = Call<HTTPResponse>(\(method), \(literal(path + query))) { $0.acceptableStatuses = [\(response.status)] }
                let received = try await agent.send(call).value
                #expect(received.status == \(response.status))
            }

            """.replacing(", \n        body", with: ",\n        body")
    }

    private static let methods = [
        "GET": ".get", "HEAD": ".head", "POST": ".post", "PUT": ".put", "PATCH": ".patch", "DELETE": ".delete",
    ]

    private static func parts(_ url: String) -> (base: String, path: String, query: String)? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        let mark = url[end...].firstIndex(of: "?") ?? url.endIndex
        let path = String(url[end..<mark])
        return (String(url[..<end]), path.isEmpty ? "/" : path, String(url[mark...]))
    }

    private static func body(_ body: RecordedBody) -> (expression: String, remark: String) {
        var remark = ""
        if let omission = body.omission { remark = "    // The body was \(ControlCharacters.escaped(omission)).\n" }
        if body.isTruncated { remark = "    // The first \(body.copiedBytes) of \(body.length ?? 0) bytes.\n" }
        if let text = body.text { return ("Data(\(literal(text)).utf8)", remark) }
        return ("Data(base64Encoded: \(literal(body.data.base64EncodedString()))) ?? Data()", remark)
    }

    private static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                result += "\\"
                result.unicodeScalars.append(scalar)
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result += ControlCharacters.escaped(String(scalar))
            }
        }
        return result + "\""
    }
}
