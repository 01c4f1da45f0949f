// Answers view/graphics.ts; null where a worker cannot find out.
import type { Graphics } from './graphics';

function look(): Graphics | null {
  if (typeof OffscreenCanvas === 'undefined') return null;
  const context = new OffscreenCanvas(1, 1).getContext('webgl2');
  if (context === null) return null;
  const info = context.getExtension('WEBGL_debug_renderer_info');
  const name = String(context.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
  return { software: /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name) };
}

self.postMessage(look());
