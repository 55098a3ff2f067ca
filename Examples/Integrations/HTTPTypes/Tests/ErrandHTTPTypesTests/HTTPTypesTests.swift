import Errand
import ErrandHTTPTypes
import Foundation
import HTTPTypes
import Testing

@Suite("HTTPTypes")
struct HTTPTypesTests {
    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    @Test("a request is converted back unchanged: method, URL and every field in order, with its marks")
    func requestRoundTrip() throws {
        var headers: HTTPHeaders = ["Accept": "text/html", "X-Trace": "7", "accept": "text/plain"]
        headers.set("X-Api-Key", "k-1", sensitive: true)
        headers.add("Cookie", "a=1; b=2")
        headers.add("X-Name", "Zoë")
        let original = Errand.HTTPRequest(
            "PROPFIND", try Self.url("https://example.com:8443/a%20b/c?d=e%2Ff&g"), headers: headers)
        let typed = try HTTPTypes.HTTPRequest(original)
        #expect(typed.method.rawValue == "PROPFIND")
        #expect([typed.scheme, typed.authority, typed.path] == ["https", "example.com:8443", "/a%20b/c?d=e%2Ff&g"])
        #expect(typed.headerFields.map(\.name.rawName) == headers.map(\.name.rawName))
        #expect(typed.headerFields[values: .accept] == ["text/html", "text/plain"])
        let back = try Errand.HTTPRequest(typed)
        #expect(back.method == original.method)
        #expect(back.urlText == original.urlText)
        #expect(back.headers == original.headers)
        #expect(back.headers.map(\.name.rawName) == headers.map(\.name.rawName))
        #expect(back.body.isNone)
    }

    @Test("the body is separate from the value")
    func body() throws {
        let typed = HTTPTypes.HTTPRequest(method: .post, scheme: "http", authority: "example.com", path: "/")
        #expect(try Errand.HTTPRequest(typed, body: .text("Hello")).body.data == Data("Hello".utf8))
    }

    @Test("a sensitive field corresponds to a field that must not be indexed")
    func sensitive() throws {
        let headers: HTTPHeaders = ["Authorization": "Bearer 1", "X-Plain": "2"]
        let fields = try HTTPFields(headers)
        #expect(fields.map(\.indexingStrategy) == [.disallow, .automatic])
        var secret = HTTPField(name: try #require(HTTPField.Name("X-Secret")), value: "s")
        secret.indexingStrategy = .disallow
        let back = HTTPHeaders(HTTPFields([secret, HTTPField(name: .accept, value: "a")]))
        #expect(back.map(\.isSensitive) == [true, false])
    }

    @Test("bytes that aren't UTF-8 are kept both ways, marked as Latin-1")
    func latin1() throws {
        let bytes: [UInt8] = [0x5A, 0x6F, 0xEB]
        let name = try #require(HTTPField.Name("X-Name"))
        let headers = HTTPHeaders(HTTPFields([HTTPField(name: name, value: bytes)]))
        #expect(headers["X-Name"] == "Zoë")
        #expect(headers.map(\.isLatin1) == [true])
        let back = try #require(try HTTPFields(headers).first { _ in true })
        #expect(back.withUnsafeBytesOfValue { Array($0) } == bytes)
    }

    @Test("an empty path is the root, and a fragment isn't sent")
    func pathAndFragment() throws {
        #expect(try HTTPTypes.HTTPRequest(Errand.HTTPRequest(.get, Self.url("http://example.com#top"))).path == "/")
        let query = try HTTPTypes.HTTPRequest(Errand.HTTPRequest(.get, Self.url("http://[::1]:80?q=1#top")))
        #expect(query.path == "/?q=1")
        #expect(query.authority == "[::1]:80")
    }

    @Test("a response is converted with status and fields, and without a reason phrase")
    func response() throws {
        let request = Errand.HTTPRequest(.get, try Self.url("https://example.com/7"))
        let original = Errand.HTTPResponse(
            to: request, status: 404, headers: ["Set-Cookie": "a=1", "set-cookie": "b=2"], version: "2")
        let typed = try HTTPTypes.HTTPResponse(original)
        #expect(typed.status.code == 404)
        #expect(typed.status.reasonPhrase == "")
        let back = Errand.HTTPResponse(typed, to: request, body: HTTPBody(Data("x".utf8)), version: "2")
        #expect(back.status == 404)
        #expect(back.headers == original.headers)
        #expect(back.data == Data("x".utf8))
        #expect(back.version == "2")
        #expect(back.url == request.url)
        #expect(Errand.HTTPResponse(typed, from: request.url).url == request.url)
    }

    @Test("values that swift-http-types would replace or trap on throw an error without the values")
    func refused() throws {
        func code(_ make: () throws -> Any) -> HTTPTypesError.Code? {
            do { _ = try make() } catch let error as HTTPTypesError {
                #expect(!error.description.contains("s3cret"))
                return error.code
            } catch { Issue.record(error) }
            return nil
        }
        let url = try Self.url("https://example.com/")
        #expect(code { try HTTPFields(["X Name": "1"] as HTTPHeaders) } == .invalidName)
        #expect(code { try HTTPFields(["X-Name": "s3cret\r\nX-Other: 1"] as HTTPHeaders) } == .invalidValue)
        var field = HTTPHeaders.Field("X-Name", "s3cret 日本")
        field.isLatin1 = true
        #expect(code { try HTTPFields(HTTPHeaders([field])) } == .invalidValue)
        #expect(code { try HTTPTypes.HTTPRequest(Errand.HTTPRequest("GET IT", url)) } == .invalidMethod)
        #expect(
            code { try HTTPTypes.HTTPRequest(Errand.HTTPRequest(.get, Self.url("mailto:s@example.com"))) }
                == .invalidURL)
        #expect(code { try HTTPTypes.HTTPResponse(Errand.HTTPResponse(url: url, status: 1000)) } == .invalidStatus)
        let many = HTTPHeaders((0..<Int(UInt16.max)).map { HTTPHeaders.Field(HTTPHeaderName("X-\($0)"), "") })
        #expect(code { try HTTPFields(many) } == .tooManyFields)
    }

    @Test(
        "a target without a URL is refused",
        arguments: [
            HTTPTypes.HTTPRequest(method: .options, scheme: "https", authority: "example.com", path: "*"),
            HTTPTypes.HTTPRequest(method: .connect, scheme: nil, authority: "example.com:443", path: nil),
            HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: "example.com", path: "/"),
            HTTPTypes.HTTPRequest(method: .get, scheme: "https", authority: nil, path: "/"),
            HTTPTypes.HTTPRequest(method: .get, scheme: "https", authority: "user@example.com", path: "/"),
            HTTPTypes.HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a b"),
            HTTPTypes.HTTPRequest(method: .get, scheme: "ftp", authority: "example.com", path: "/"),
            webSocket,
        ])
    func targets(_ request: HTTPTypes.HTTPRequest) {
        #expect { _ = try Errand.HTTPRequest(request) } throws: { ($0 as? HTTPTypesError)?.code == .invalidURL }
    }

    private static var webSocket: HTTPTypes.HTTPRequest {
        var request = HTTPTypes.HTTPRequest(method: .connect, scheme: "https", authority: "example.com", path: "/")
        request.extendedConnectProtocol = "websocket"
        return request
    }
}
