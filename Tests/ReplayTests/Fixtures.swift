import Errand
import ErrandReplay
import Foundation

/// Returns an archive of entries with only the properties that a test needs.
func archive(_ entries: String...) -> Data {
    Data(
        #"{"log":{"version":"1.2","creator":{"name":"t","version":"1"},"entries":[\#(entries.joined(separator: ","))]}}"#
            .utf8)
}

/// Returns an entry. JSON arguments are inserted unchanged.
func entry(
    _ method: String, _ url: String, status: Int = 200, headers: [(String, String)] = [],
    requestHeaders: [(String, String)] = [], post: String? = nil, content: String = #""size":0"#,
    redirectURL: String = "", timings: String = "", error: String = ""
) -> String {
    func list(_ fields: [(String, String)]) -> String {
        fields.map { #"{"name":"\#($0.0)","value":"\#($0.1)"}"# }.joined(separator: ",")
    }
    let postData = post.map { #","postData":\#($0)"# } ?? ""
    return """
        {"startedDateTime":"2026-01-01T00:00:00.000Z","time":1,"cache":{},"timings":{\(timings)},\
        "request":{"method":"\(method)","url":"\(url)","httpVersion":"HTTP/1.1","cookies":[],\
        "headers":[\(list(requestHeaders))],"queryString":[],"headersSize":-1,"bodySize":-1\(postData)},\
        "response":{"status":\(status),"statusText":"","httpVersion":"http/1.1","cookies":[],\
        "headers":[\(list(headers))],"content":{\(content)},"redirectURL":"\(redirectURL)",\
        "headersSize":-1,"bodySize":-1\(error.isEmpty ? "" : #","_error":"\#(error)""#)}}
        """
}

/// Returns the content of a text, given as escaped JSON.
func text(_ json: String) -> String { #""size":\#(json.utf8.count),"mimeType":"text/plain","text":"\#(json)""# }

struct Get: Request {
    typealias Output = String
    var path = "text"
}

/// A call that returns the response unprocessed.
struct Raw: Request {
    typealias Output = HTTPResponse
    var path: String
    var method = HTTPMethod.get
    var headers: HTTPHeaders = [:]
    var body = RequestBody.none
    var redirects: RedirectPolicy?
    var acceptableStatuses: StatusCodes { .any }
}

let site = "https://api.example.com"

func agent(_ replay: ReplayTransport, _ time: any TimeSource = SystemTimeSource()) -> NetworkAgent {
    NetworkAgent(
        configuration: AgentConfiguration(baseURL: "https://api.example.com"), transport: replay, time: time)
}

func entry(
    _ url: String, status: Int = 200, headers: [(String, String)] = [], content: String = #""size":0"#,
    redirectURL: String = "", timings: String = "", error: String = ""
) -> String {
    entry(
        "GET", url, status: status, headers: headers, content: content, redirectURL: redirectURL, timings: timings,
        error: error)
}
