package import Errand

/// Returns the code of the error that the body throws.
package func code(_ body: () async throws -> some Any) async -> ErrandError.Code? {
    do {
        _ = try await body()
        return nil
    } catch { return (error as? ErrandError)?.code }
}
