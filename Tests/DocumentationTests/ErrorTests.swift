import Errand
import ErrandCookies
import ErrandCurlTransport
import ErrandEnvelopes
import ErrandHTTPSyntax
import ErrandJSONSchema
import ErrandJSONValidation
import ErrandKeys
import ErrandReplay
import Foundation
import Testing

@testable import ErrandAuthentication
@testable import ErrandBatch
@testable import ErrandCache
@testable import ErrandCacheTesting
@testable import ErrandChain
@testable import ErrandCompression
@testable import ErrandConformance
@testable import ErrandInspector
@testable import ErrandJSONDecoding
@testable import ErrandMultipart
@testable import ErrandOAuth
@testable import ErrandOAuthTesting
@testable import ErrandOutbox
@testable import ErrandPaging
@testable import ErrandResumableDownload
@testable import ErrandResumableUpload
@testable import ErrandRetry
@testable import ErrandSigning
@testable import ErrandStreaming
@testable import ErrandTesting
@testable import ErrandURLFilters
@testable import ErrandWebSocket
@testable import ErrandXML

/// Checks every public error of every module. Add new ones here.
@Suite("Public errors") struct ErrorTests {
    private struct Step: Request {}

    private struct Reply: ResponseEnvelope {
        var code: EnvelopeCode = 7
        var isSuccess: Bool { false }
    }

    private static let archive = """
        {"log":{"entries":[{"request":{"method":"GET","url":"http://a/"},"response":{"status":200}}]}}
        """

    /// One value of each type, thrown by real code if that's easy.
    private static var all: [any DescribedError] {
        var errors: [any DescribedError] = [
            ErrandError(.timedOut, "nothing came"), BatchError(.noneSucceeded, [], failureCount: 0),
            ChainInputError(label: "profile", expected: Int.self, got: nil), CacheMiss(.expired),
            CacheStoreError("the disk is full"), CacheStoreSuite.Failure(description: "it forgot an entry"),
            JSONValidationError(problems: [], count: 0), JSONSchemaError(.notJSON, pointer: "", reason: "no JSON"),
            URLFilterError(.invalidURL, filter: "token", "no URL"), TransferError(.noSpace, "the disk is full"),

            TestServerError(reason: "no port"), RequestFault(400, "no request"), ConformanceSkipped(reason: "no TLS"),
            ConformanceFailure(expected: "1", came: "2"), WaitTimeout(what: "a gate", limit: .seconds(1)),
            URLSyntax.Fault(description: "no host"), CookieRejection.tooLong,
            PagingError(code: .repeatedPage, page: 2), ResilienceError(.breakerOpen, host: "a:80", "open"),
            StreamingError(.truncated, "an element ended early", byte: 1, element: 1),
            JSONDecodingError(.malformedJSON, "expected a value, found an empty text", byte: 0),
            XMLError(.truncated, "the document ends inside an element"),
            EnvelopeError(Reply(), response: HTTPResponse(url: URL(filePath: "/"), status: 200)),
        ]
        errors += [
            AuthenticationError(.signedOut), SessionEnded(), CompressionError(.unavailable, "there is no zstd"),
            MultipartError(.truncated, "the last part has no end"), CurlError(code: 6, message: "no such name"),
            OutboxError(.closed, "the outbox is closed"), WebSocketError(.closed, "the socket is closed"),
            KeyError(.malformedKey, "the text isn't a key"), SigningError(.outdated, "the signature is too old"),
            InspectorError(.releaseBuild, "the program is a release build"),
            OAuthError(.stateMismatch, "the redirect belongs to another sign-in"),
            TokenStoreSuite.Failure(description: "it forgot a token"),
        ]
        func add(_ body: () throws -> Void) {
            do { try body() } catch { errors += [error as? any DescribedError].compactMap(\.self) }
        }
        add { _ = try ReplayTransport(har: Data()) }
        add { try ReplayTransport(har: Data(archive.utf8)).checkAllUsed() }
        add { _ = try JSONShape.string(pattern: "(") }
        add { _ = try StructuredField.List(parsing: "\"") }
        add { _ = try StructuredField.BareItem.string("\u{1F600}").serialized() }
        add { _ = try CookieJar(file: URL(filePath: "/")) }
        return errors
    }

    /// Errors that only a call can throw.
    private static func thrown() async -> [any DescribedError] {
        var errors: [any DescribedError] = []
        func add(_ body: () async throws -> Void) async {
            do { try await body() } catch { errors += [error as? any DescribedError].compactMap(\.self) }
        }
        await add {
            let agent = NetworkAgent(baseURL: "https://api.example.com", transport: StubTransport())
            _ = try await agent.run(Chain("list", steps: [ChainStep(Step())]))
        }
        await add {
            _ = try await StubTransport().send(HTTPRequest(.get, URL(filePath: "/")), options: TransportOptions())
        }
        return errors
    }

    @Test("the list has every public error type of the sources")
    func complete() async throws {
        let pattern = /(?:public (?:struct|enum)|extension) ([A-Za-z.]+): [^{]*(?:DescribedError|CodedError)\b/
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var names: Set<String> = []
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: pattern) {
                names.insert(String(match.1.split(separator: ".").last ?? match.1))
            }
        }
        let known = await (Self.all + Self.thrown()).map { "\(type(of: $0))" }
        #expect(names.count > 20 && names.subtracting(known) == [])
    }

    @Test("localizedDescription is one short sentence, without a URL, a number, a code or the name of a type")
    func sentences() async {
        for error in await Self.all + Self.thrown() {
            let sentence = error.localizedDescription
            #expect(error.errorUserInfo["NSLocalizedDescription"] as? String == sentence)
            #expect(error.errorUserInfo["NSDebugDescription"] as? String == error.description)
            #expect(
                sentence.count <= 60 && sentence.hasSuffix(".") && sentence.first?.isUppercase == true, "\(sentence)")
            #expect(!sentence.contains { $0.isNumber || $0 == "/" || $0 == "_" }, "\(sentence)")
            #expect(sentence.dropFirst().allSatisfy { !$0.isUppercase }, "\(sentence)")
        }
    }

    @Test("each error type has its own domain, and each failure has a number from 1")
    func domains() {
        #expect(
            Set(Self.all.map { type(of: $0).errorDomain }).count
                == Set(Self.all.map { String(reflecting: type(of: $0)) }).count)
        #expect(Self.all.allSatisfy { type(of: $0).errorDomain.hasPrefix("Errand.") && $0.errorCode > 0 })
    }

    /// Checks all codes of a type, in the order of their numbers. Numbers never change, so new codes go at the end.
    private func expect<Code: ErrorCode>(_ codes: Code..., at location: SourceLocation = #_sourceLocation) {
        #expect(codes.map(\.number) == Array(1...codes.count), sourceLocation: location)
        #expect(Set(codes.map(\.description)).count == codes.count, sourceLocation: location)
    }

    @Test("the numbers of codes don't change")
    func numbers() {
        expect(
            ErrandError.Code.invalidURL, .invalidRequest, .encodingFailed, .bodyNotReplayable, .fileFailed, .cancelled,
            .timedOut,
            .deadlineExceeded, .nameLookupFailed, .cannotConnect, .connectionLost, .insecureConnection,
            .invalidResponse,
            .truncated, .bodyTooLarge, .bodyAlreadyRead, .redirectFailed, .unacceptableStatus, .unacceptableContentType,
            .checkFailed, .decodingFailed, .activityEnded, .transportUnavailable, .transportFailed)
        expect(BatchError.Code.partFailed, .noneSucceeded)
        expect(
            OutboxError.Code.busy, .queueFull, .tooLarge, .closed, .unregisteredType, .encodingFailed, .decodingFailed,
            .unknownFormat, .noSpace, .fileFailed)
        expect(
            CacheMiss.Reason.off, .notInstalled, .notStored, .expired, .versionMismatch, .partitionMismatch,
            .appVersionMismatch, .unreadable)
        expect(
            URLFilterError.Code.relativeURL, .schemeChanged, .credentialsInURL, .invalidURL, .invalidParameters,
            .invalidBody, .missingEnvironment
        )
        expect(AuthenticationError.Code.signedOut, .refreshFailed, .refreshTimedOut)
        expect(ResilienceError.Code.breakerOpen, .waitTooLong, .queueFull)
        expect(HARError.Code.fileFailed, .malformedJSON, .truncated, .notHAR, .tooLarge, .damagedBody)
        expect(ReplayError.Code.unmatched, .exhausted, .unusedEntries)
        expect(
            JSONDecodingError.Code.malformedJSON, .tooDeep, .tooLarge, .invalidEncoding, .numberNotRepresentable)
        expect(PagingError.Code.repeatedPage, .unreachablePage, .invalidLink)
        expect(
            StreamingError.Code.elementTooLong, .malformedJSON, .decodingFailed, .truncated, .bodyAlreadyRead,
            .unusableEventID)
        expect(
            WebSocketError.Code.handshakeFailed, .protocolViolated, .invalidText, .tooLarge, .closed, .timedOut,
            .decodingFailed, .encodingFailed, .alreadyRead, .notConnected, .notASocket)
        expect(
            KeyError.Code.libraryMissing, .unknownAlgorithm, .keyMismatch, .malformedKey, .unsupportedKey,
            .operationFailed)
        expect(
            SigningError.Code.missingComponent, .invalidComponent, .invalidValue, .unknownDigest, .unknownLength,
            .fieldInUse, .untrustedOrigin, .notLast, .ownerChanged, .missingSignature, .malformedSignature, .unknownKey,
            .algorithmMismatch, .insufficientCoverage, .outdated, .replayed, .invalidSignature, .digestMismatch,
            .tooManySignatures, .invalidOptions)
        expect(
            OAuthError.Code.invalidServer, .issuerMismatch, .unsupported, .invalidParameter, .stateMismatch,
            .invalidRedirect, .browserFailed, .signInCancelled, .signInTimedOut, .accessDenied, .invalidGrant,
            .deviceCodeExpired, .refused, .invalidResponse, .tokenTypeMismatch, .userMismatch, .noToken, .storeFailed,
            .keyFailed, .requestFailed)
        expect(
            XMLError.Code.malformed, .truncated, .refusedDocumentType, .tooDeep, .tooLarge, .invalidCharset,
            .invalidNamespace)
    }
}
