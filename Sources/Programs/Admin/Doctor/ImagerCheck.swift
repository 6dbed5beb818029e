import ImageProcessing

/// Checks the program that decodes images. It is started in the same way as by a server.
enum ImagerCheck {
    private static let check = "imager"

    static func result() async -> CheckResult {
        do throws(ImageError) {
            // At its start, the program itself checks that the loaders of other formats are blocked.
            let images = try ImagerPool(processCount: 1)
            _ = try await images.titleCard(
                TitleCard(title: "Bookplate", author: "Doctor", genre: nil))
            guard try await rejects(svg, images) else {
                return .wrong(
                    check, "bookplate-imager decodes SVG",
                    "install the bookplate-imager of this version")
            }
            let scripts = try await images.missingScripts()
            guard scripts.isEmpty else {
                let message =
                    "title cards have no font for \(scripts.map(\.rawValue).joined(separator: ", ")), and show boxes instead"
                let remedy =
                    "install fonts-noto-core, fonts-noto-cjk, and fonts-noto-color-emoji, and start the servers again"
                return scripts.contains(.latin)
                    ? .wrong(check, message, remedy) : .warning(check, message, remedy)
            }
            return .ok(check, "bookplate-imager works, and rejects formats such as SVG and PDF")
        } catch .unavailable(let reason) {
            return .wrong(
                check, reason,
                "install bookplate-imager in the folder of bookplate-admin, and check that the kernel supports seccomp filters"
            )
        } catch {
            return .wrong(
                check, "bookplate-imager cannot draw a title card: \(error)",
                "install fonts, such as fonts-noto-core")
        }
    }

    private static let svg = Array(
        #"<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"></svg>"#.utf8)

    private static func rejects(
        _ bytes: [UInt8], _ images: ImagerPool
    ) async throws(ImageError) -> Bool {
        do throws(ImageError) {
            _ = try await images.cover(from: bytes)
            return false
        } catch .unsupported {
            return true
        }
    }
}
