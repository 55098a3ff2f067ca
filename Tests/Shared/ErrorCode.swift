package import Errand

package func code(_ body: () async throws -> some Any) async -> ErrandError.Code? {
    do {
        _ = try await body()
        return nil
    } catch { return (error as? ErrandError)?.code }
}
