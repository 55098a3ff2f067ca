import ErrandAuthentication
import ErrandCookies
@testable import ErrandPaging
@testable import ErrandRetry
@testable import ErrandStreaming
import Errand
@testable import ErrandBatch
@testable import ErrandCache
@testable import ErrandCacheTesting
@testable import ErrandChain
import ErrandHTTPSyntax
import ErrandJSONValidation
import ErrandRecording
@testable import ErrandResumableDownload
@testable import ErrandTesting
@testable import ErrandURLFilters
@testable import ErrandXML
import Foundation
import Testing

/// Every public error of every module; a new one is to be added here.
@Suite("Public errors") struct ErrorTests {
    private struct Step: Request {}

    private static let archive = """
        {"log":{"entries":[{"request":{"method":"GET","url":"http://a/"},"response":{"status":200}}]}}
        """

    /// One value of each type, made by what throws it where that is simple.
    private static var all: [any DescribedError] {
        var errors: [any DescribedError] = [
            ErrandError(.timedOut, "nothing came"), BatchError(.noneSucceeded, [], failureCount: 0),
            ChainInputError(label: "profile", expected: Int.self, got: nil), CacheMiss(.expired),
            CacheStoreError("the disk is full"), CacheStoreSuite.Failure(description: "it forgot an entry"),
            JSONValidationError(problems: [], count: 0), JSONSchemaError(.notJSON, pointer: "", reason: "no JSON"),
            URLFilterError(.invalidURL, filter: "token", "no URL"), DownloadError(.noSpace, "the disk is full"),
            TestServerError(reason: "no port"), RequestFault(400, "no request"), ConformanceExcused(reason: "no TLS"),
            ConformanceFailure(expected: "1", came: "2"), WaitTimeout(what: "a gate", limit: .seconds(1)),
            URLSyntax.Fault(description: "no host"), CookieRejection.tooLong,
            PagingError(code: .repeatedPage, page: 2), ResilienceError(.breakerOpen, host: "a:80", "open"),
            StreamingError(.truncated, "an element ended early", byte: 1, element: 1),
            XMLError(.truncated, "the document ends within an element"),
        ]
        do { _ = try ReplayTransport(har: Data()) } catch {
            errors.append(error as? HARError ?? ErrandError(.file, ""))
        }
        do {
            try ReplayTransport(har: Data(archive.utf8)).checkAllUsed()
        } catch { errors.append(error as? ReplayError ?? ErrandError(.file, "")) }
        do { _ = try JSONShape.string(pattern: "(") } catch { errors.append(error) }
        do { _ = try StructuredField.List(parsing: "\"") } catch { errors.append(error as any DescribedError) }
        return errors
    }

    @Test("what localizedDescription says is what description says")
    func sentences() {
        #expect(Self.all.count == 25)
        for error in Self.all {
            #expect(error.localizedDescription == error.description)
            #expect(error.errorDescription == error.description && !error.description.isEmpty)
        }
    }

    @Test("each type has a domain of its own, and each failure a number from 1")
    func domains() {
        #expect(Set(Self.all.map { type(of: $0).errorDomain }).count == Self.all.count)
        #expect(Self.all.allSatisfy { type(of: $0).errorDomain.hasPrefix("Errand.") && $0.errorCode > 0 })
    }

    /// All codes of a type in the order of their numbers, which never change: new ones are added at the end.
    private func expect<Code: ErrorCode>(_ codes: Code..., at location: SourceLocation = #_sourceLocation) {
        #expect(codes.map(\.number) == Array(1...codes.count), sourceLocation: location)
        #expect(Set(codes.map(\.description)).count == codes.count, sourceLocation: location)
    }

    @Test("the numbers of codes do not change")
    func numbers() {
        expect(
            ErrandError.Code.invalidURL, .invalidRequest, .bodyEncoding, .bodyNotReplayable, .file, .cancelled,
            .timedOut,
            .deadlineExceeded, .nameLookupFailed, .cannotConnect, .connectionLost, .insecureConnection,
            .invalidResponse,
            .truncated, .bodyTooLarge, .bodyAlreadyRead, .redirect, .unacceptableStatus, .unacceptableContentType,
            .checkFailed, .decoding, .activityEnded, .transportUnavailable, .transportFailed)
        expect(BatchError.Code.partFailed, .noneSucceeded)
        expect(
            CacheMiss.Reason.off, .notInstalled, .notStored, .expired, .versionMismatch, .partitionMismatch,
            .appVersionMismatch, .unreadable)
        expect(
            URLFilterError.Code.relativeURL, .schemeChanged, .credentials, .invalidURL, .parameters, .body, .environment
        )
        expect(AuthenticationError.Code.signedOut, .refreshFailed, .refreshTimedOut)
        expect(ResilienceError.Code.breakerOpen, .waitTooLong, .queueFull)
        expect(HARError.Code.file, .malformedJSON, .truncated, .notHAR, .tooLarge, .damagedBody)
        expect(ReplayError.Code.unmatched, .exhausted, .unusedEntries)
        expect(PagingError.Code.repeatedPage, .unreachablePage)
        expect(
            StreamingError.Code.elementTooLong, .invalidJSON, .decoding, .truncated, .alreadyRead, .unusableEventID)
        expect(
            XMLError.Code.malformed, .truncated, .documentType, .tooDeep, .tooLarge, .charset, .namespace)
    }

    @Test("a step, a stub and a chain fail with such errors")
    func thrown() async throws {
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: StubTransport())
        do { _ = try await agent.send(Chain("list", steps: [ChainStep(Step())])) } catch {
            let error = try #require(error as? ChainError)
            #expect(error.localizedDescription == error.description && error.errorCode == 1)
        }
        do {
            _ = try await StubTransport().send(HTTPRequest(.get, URL(filePath: "/")), options: TransportOptions())
        } catch {
            let error = try #require(error as? UnmatchedRequest)
            #expect(error.localizedDescription == error.description && error.errorCode == 1)
        }
    }
}
