import Errand
import ErrandCache
import ErrandConformance
import ErrandEssentials
import ErrandTesting

/// A plugin as an app's developer writes it, right or with one mistake.
struct FreshFilter: Sendable {
    let name: String
    let isWrong: Bool
    var secrets: [String] = []
    let make: @Sendable () -> any Filter

    init(right name: String, secrets: [String] = [], _ make: @escaping @Sendable () -> any Filter) {
        (self.name, isWrong, self.secrets, self.make) = (name, false, secrets, make)
    }

    init(wrong name: String, secrets: [String] = [], _ make: @escaping @Sendable () -> any Filter) {
        (self.name, isWrong, self.secrets, self.make) = (name, true, secrets, make)
    }

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
        FreshFilter(wrong: "URLCounts") { URLCounts() },
        FreshFilter(right: "ShortMemory") { ShortMemory() },
        FreshFilter(wrong: "URLMemory") { URLMemory() },
        FreshFilter(wrong: "Joining") { Joining() },
    ]
}
