import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandURLSessionTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Requests and responses of Foundation, and back", .endsInTime, .leakChecked)
struct ConversionTests {
    @Test("a URLRequest becomes a request")
    func requestFromURLRequest() throws {
        var original = URLRequest(url: try #require(URL(string: "https://example.com/a%2Fb?q=%20")))
        original.httpMethod = "PURGE"
        original.setValue("1, 2", forHTTPHeaderField: "X-Many")
        original.httpBody = Data("payload".utf8)
        let request = try HTTPRequest(original)
        #expect(request.method == "PURGE")
        #expect(request.url.absoluteString == "https://example.com/a%2Fb?q=%20")
        #expect(request.headers["X-Many"] == "1, 2")
        #expect(request.body.data == Data("payload".utf8))
        try request.validate()
    }

    @Test("a URLRequest that can't be sent throws with the reason")
    func refusedURLRequests() throws {
        var request = URLRequest(url: try #require(URL(string: "https://example.com")))
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        let stream = #expect(throws: ErrandError.self) { try HTTPRequest(request) }
        #expect(stream?.code == .invalidRequest)
        request = URLRequest(url: try #require(URL(string: "https://example.com")))
        request.url = nil
        let nowhere = #expect(throws: ErrandError.self) { try HTTPRequest(request) }
        #expect(nowhere?.code == .invalidURL)
    }

    @Test("a request becomes a URLRequest, with fields of the same name joined")
    func urlRequestFromRequest() throws {
        let url = try #require(URL(string: "http://example.com/"))
        let request = URLRequest(
            HTTPRequest(.put, url, headers: ["X-Many": "1", "X-Many": "2", "X-Empty": ""], body: .text("hi")))
        #expect(request.httpMethod == "PUT")
        #expect(request.value(forHTTPHeaderField: "X-Many") == "1, 2")
        #expect(request.value(forHTTPHeaderField: "X-Empty") == "")
        #expect(request.httpBody == Data("hi".utf8))
    }

    @Test("requests and responses are converted in both directions")
    func responses() throws {
        let url = try #require(URL(string: "http://example.com/"))
        let response = HTTPResponse(
            url: url, status: 404, headers: ["X-A": "1", "X-A": "2", .contentType: "text/plain"],
            body: HTTPBody(Data("none".utf8)), version: "1.1")
        let foundation = try #require(HTTPURLResponse(response))
        #expect(foundation.statusCode == 404)
        #expect(foundation.value(forHTTPHeaderField: "x-a") == "1, 2")
        let back = try #require(HTTPResponse(foundation, body: Data("none".utf8)))
        #expect(back.status == 404)
        #expect(back.headers["X-A"] == "1, 2")
        #expect(back.data == Data("none".utf8))
    }

    @Test(
        "joined cookies are separated again",
        arguments: [
            ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1", "b=2"]),
            ("a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2", ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2"]),
            ("a=x,y,z; Path=/, __Host-b=; Secure", ["a=x,y,z; Path=/", "__Host-b=; Secure"]), ("", []),
            (",,,", [",,,"]),
        ] as [(String, [String])])
    func cookies(joined: String, expected: [String]) {
        #expect(ResponseFields.cookies(in: joined) == expected)
    }

    @Test("zstd counts as decoded only if the system decodes it", arguments: [true, false])
    func zstd(isKnown: Bool) throws {
        let url = try #require(URL(string: "http://example.com/"))
        let codings = ResponseFields.codings(hasZstd: isKnown)
        for (coding, expected) in [("zstd", isKnown), ("gzip, zstd", isKnown), ("gzip", true), ("lzma", false)] {
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil, headerFields: ["Content-Encoding": coding]))
            #expect(ResponseFields.isDecoded(response, for: .get, codings) == expected, "\(coding)")
        }
    }

    @Test("a decoded coding's fields are removed, and stay if there are no bytes to decode")
    func codings() throws {
        let url = try #require(URL(string: "http://example.com/"))
        func response(_ coding: String, status: Int = 200) throws -> HTTPURLResponse {
            try #require(
                HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: nil,
                    headerFields: ["Content-Encoding": coding, "Content-Length": "7"]))
        }
        for coding in ["gzip", "GZIP", "deflate", "br", "gzip, br"] {
            let headers = ResponseFields.headers(of: try response(coding), for: .get)
            #expect(!headers.contains(.contentEncoding) && !headers.contains(.contentLength), "\(coding)")
        }
        let kept = [
            ResponseFields.headers(of: try response("x-own"), for: .get),
            ResponseFields.headers(of: try response("gzip"), for: .head),
            ResponseFields.headers(of: try response("gzip", status: 304), for: .get),
        ]
        #expect(kept.allSatisfy { $0[.contentLength] == "7" && $0.contains(.contentEncoding) })
    }
}
