import Errand
import ErrandCache
import ErrandConformance
import ErrandTesting
import Foundation
import Testing

/// A plugin as an app's developer writes it, right or with one mistake.
struct FreshFilter: Sendable, CustomTestStringConvertible {
    let name: String
    let isWrong: Bool
    /// The case that refuses the filter. Nil if a law refuses it instead.
    var refusedBy: String?
    var secrets: [String] = []
    let make: @Sendable () -> any Filter

    init(right name: String, secrets: [String] = [], _ make: @escaping @Sendable () -> any Filter) {
        (self.name, isWrong, self.secrets, self.make) = (name, false, secrets, make)
    }

    init(wrong name: String, refusedBy: String? = nil, _ make: @escaping @Sendable () -> any Filter) {
        (self.name, isWrong, self.refusedBy, self.make) = (name, true, refusedBy, make)
    }

    var testDescription: String { name }

    static let all: [FreshFilter] = [
        FreshFilter(right: "TenantHeader") { TenantHeader(tenant: "shop") },
        FreshFilter(wrong: "DefaultHeaders") { DefaultHeaders(defaults: ["X-App": "shop"]) },
        FreshFilter(right: "AppUserAgent") { AppUserAgent(name: "Shop/3") },
        FreshFilter(wrong: "ReportTimeouts") { ReportTimeouts() },
        FreshFilter(right: "ScreenHeader") { ScreenHeader(screen: "cart") },
        FreshFilter(wrong: "ScreenTag") { ScreenTag(screen: "cart") },
        FreshFilter(right: "BearerToken", secrets: ["fresh-token-1"]) { BearerToken { "fresh-token-1" } },
        FreshFilter(wrong: "ServiceKey") { ServiceKey(key: "fresh-key-1") },
        FreshFilter(right: "CSRFTokens") { CSRFTokens() },
        FreshFilter(wrong: "RequestToken") { RequestToken() },
        FreshFilter(right: "VersionedPath") { VersionedPath(prefix: "/v2") },
        FreshFilter(wrong: "PathPrefix") { PathPrefix(prefix: "/v2") },
        FreshFilter(right: "VersionQuery") { VersionQuery(version: "3") },
        FreshFilter(wrong: "LanguageQuery") { LanguageQuery(language: "de") },
        FreshFilter(right: "RequestSignature", secrets: ["fresh-key-2"]) { RequestSignature(key: "fresh-key-2") },
        FreshFilter(wrong: "BodySignature") { BodySignature(key: "fresh-key-3") },
        FreshFilter(right: "TextArmor") { TextArmor() },
        FreshFilter(wrong: "BodyEnvelope") { BodyEnvelope(device: "d1") },
        FreshFilter(right: "MethodOverride") { MethodOverride() },
        FreshFilter(right: "CallNotes") { CallNotes() },
        FreshFilter(wrong: "SizeNotes") { SizeNotes() },
        FreshFilter(right: "EnvelopeContent") { EnvelopeContent() },
        FreshFilter(wrong: "HijackGuard") { HijackGuard() },
        FreshFilter(right: "ShopErrors") { ShopErrors() },
        FreshFilter(wrong: "NetworkErrors") { NetworkErrors() },
        FreshFilter(right: "BodyChecksum") { BodyChecksum() },
        FreshFilter(wrong: "LengthCheck") { LengthCheck() },
        FreshFilter(right: "DemoResponses") { DemoResponses(responses: ["/demo": Data("{}".utf8)]) },
        FreshFilter(wrong: "OfflineFallback") { OfflineFallback() },
        FreshFilter(right: "CarefulRetry") { CarefulRetry() },
        FreshFilter(wrong: "EagerRetry") { EagerRetry() },
        FreshFilter(right: "Polling") { Polling() },
        FreshFilter(wrong: "BusyServer") { BusyServer() },
        FreshFilter(right: "SecondTry") { SecondTry(delay: .milliseconds(200)) },
        FreshFilter(wrong: "TwoAtOnce") { TwoAtOnce() },
        FreshFilter(right: "AttemptLimit") { AttemptLimit(limit: .seconds(300)) },
        FreshFilter(wrong: "CallLimit") { CallLimit(limit: .seconds(300)) },
        FreshFilter(right: "RequestGate") { RequestGate(limit: 4) },
        FreshFilter(wrong: "BusyLimit") { BusyLimit(limit: 500) },
        FreshFilter(right: "HostBreaker") { HostBreaker() },
        FreshFilter(wrong: "ServiceBreaker") { ServiceBreaker() },
        FreshFilter(right: "HeadTimes") { HeadTimes() },
        FreshFilter(wrong: "URLCounts", refusedBy: "the filter's memory for URLs, hosts, users and bodies is bounded") {
            URLCounts()
        },
        FreshFilter(right: "ShortMemory") { ShortMemory() },
        FreshFilter(wrong: "URLMemory") { URLMemory() },
        FreshFilter(wrong: "Joining", refusedBy: "cancelling a call doesn't affect an equal call") { Joining() },
    ]
}

struct FreshAccessory: Sendable, CustomTestStringConvertible {
    let name: String
    /// The case that refuses the accessory. Nil if it's right.
    let refusedBy: String?
    var isWrong: Bool { refusedBy != nil }
    var testDescription: String { name }
    let cases: @Sendable (Duration) -> [PluginConformanceCase]

    init<Subject: Accessory>(
        _ name: String, refusedBy: String? = nil, output: @escaping @Sendable (Subject) -> String = { _ in "" },
        _ make: @escaping @Sendable () -> Subject
    ) {
        (self.name, self.refusedBy) = (name, refusedBy)
        cases = { gracePeriod in
            AccessoryConformance.cases(
                for: make, output: { output($0) }, within: .seconds(60), gracePeriod: gracePeriod)
        }
    }

    static let all: [FreshAccessory] = [
        FreshAccessory("CallCounter") { CallCounter() },
        FreshAccessory("CallTimes") { CallTimes() },
        FreshAccessory("ResponseTimes", refusedBy: "the accessory's memory doesn't grow with finished activities") {
            ResponseTimes()
        },
        FreshAccessory("SafeLog", output: \.text) { SafeLog() },
        FreshAccessory(
            "CurlCommands",
            refusedBy: "law: the output contains no secret from any field, JSON member or form item",
            output: \.text
        ) { CurlCommands() },
        FreshAccessory(
            "LastBodies", refusedBy: "law: the output contains no secret from any field, JSON member or form item",
            output: \.text
        ) { LastBodies() },
        FreshAccessory("RunningCalls") { RunningCalls() },
        FreshAccessory("FailureFile", refusedBy: "the accessory doesn't block the thread of an event") {
            FailureFile()
        },
        FreshAccessory("StaleScreens", refusedBy: "law: a call with the accessory is the same as without it") {
            StaleScreens()
        },
        FreshAccessory("ByteCounter") { ByteCounter() },
    ]
}

struct FreshStore: Sendable, CustomTestStringConvertible {
    let name: String
    let isWrong: Bool
    let make: @Sendable () -> any CacheStore
    var testDescription: String { name }

    static let all: [FreshStore] = [
        FreshStore(name: "DictionaryStore", isWrong: false) { DictionaryStore() },
        FreshStore(name: "TextStore", isWrong: true) { TextStore() },
        FreshStore(name: "FileStore", isWrong: false) {
            FileStore(FileManager.default.temporaryDirectory.appending(path: "errand-fresh-\(UUID().uuidString)"))
        },
        FreshStore(name: "TwoTableStore", isWrong: true) { TwoTableStore() },
        // Not refused: the default implementation of `update` compares and writes in two steps as well.
        FreshStore(name: "SlowUpdateStore", isWrong: false) { SlowUpdateStore() },
        FreshStore(name: "ReadableFileStore", isWrong: true) { ReadableFileStore() },
    ]
}
