import Errand
import Foundation
import Testing

@testable import ErrandURLSessionTransport

@Suite("Errors and targets of the system's connections") struct NetworkFailureTests {
    @Test(
        "an attempt's error has the code that a request would have",
        arguments: [
            (.posix(.ECONNREFUSED), .cannotConnect), (.posix(.ENETDOWN), .cannotConnect),
            (.posix(.EHOSTUNREACH), .cannotConnect), (.posix(.EPERM), .cannotConnect),
            (.posix(.ETIMEDOUT), .timedOut), (.posix(.ECONNRESET), .connectionLost),
            (.posix(.ECANCELED), .cancelled), (.posix(.EMFILE), .transportFailed),
            (.name(-65554), .nameLookupFailed), (.name(-65570), .cannotConnect),
            (.security(-9808), .insecureConnection), (.rejection("pins"), .insecureConnection),
            (.other, .transportFailed),
        ] as [(NetworkFailure.Cause, ErrandError.Code)])
    func codes(cause: NetworkFailure.Cause, code: ErrandError.Code) {
        struct Cause: Error {}
        let failure = NetworkFailure(cause, "words", underlying: Cause())
        #expect(failure.unconnected.code == code)
        #expect(failure.unconnected.underlying is Cause)
        #expect(failure.lost.code == .connectionLost)
    }

    @Test("a rejected server is reported with the reason")
    func rejection() {
        let failure = NetworkFailure(.rejection("the server's public key isn't one of the pinned keys"), "-9808")
        #expect(failure.unconnected.message == "the server's public key isn't one of the pinned keys")
    }

    @Test(
        "the host and port are taken from a URL",
        arguments: [
            ("http://Example.com/a", "example.com", 80, false), ("https://example.com:8443", "example.com", 8443, true),
            ("HTTPS://127.0.0.1/", "127.0.0.1", 443, true), ("http://[::1]:81/", "::1", 81, false),
            ("http://[fe80::1%25lo]/", "fe80::1%lo", 80, false),
        ] as [(String, String, UInt16, Bool)])
    func targets(url: String, host: String, port: UInt16, isSecure: Bool) throws {
        let target = try ConnectionTarget(try #require(URL(string: url)))
        #expect(target.host.lowercased() == host)
        #expect(target.port == port && target.isSecure == isSecure)
    }

    @Test(
        "a URL without a host, or with a disguised host, is refused",
        arguments: ["http:///a", "http://a%2Fb/", "http://a:0/"])
    func noTarget(url: String) throws {
        let url = try #require(URL(string: url))
        #expect(throws: ErrandError.self) { try ConnectionTarget(url) }
    }
}
